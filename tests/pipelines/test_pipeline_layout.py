"""Which queries a start has, from what is declared and what earlier runs left."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.pipelines.error import RunError
from penstock.pipelines.run.layout import (
    QueryLayout,
    Standing,
    from_document,
    settled_layout,
    wanted_layout,
)

HERE, THERE = {("orders", 0): 5}, {("orders", 0): 7}
BOTH = {"left": "orders", "right": "orders"}
SHARED = QueryLayout("@orders", ("left", "right"), "orders", "@orders")


def own(output: str) -> QueryLayout:
    return QueryLayout(output, (output,), folder=output)


def test_outputs_of_one_input_are_wanted_together() -> None:
    found = wanted_layout(["left", "sum", "right", "other"], {**BOTH, "other": "payments"})
    assert [(each.name, each.outputs) for each in found] == [
        ("@orders", ("left", "right")),
        ("sum", ("sum",)),
        ("other", ("other",)),
    ]


def test_a_first_run_has_what_is_wanted() -> None:
    wanted = wanted_layout(BOTH, BOTH)
    assert settled_layout("p", wanted, []) == wanted


def test_what_shares_a_query_goes_on_also_in_the_middle_of_a_batch() -> None:
    (query,) = settled_layout("p", wanted_layout(BOTH, BOTH), [Standing(SHARED, None)])
    assert query == SHARED


def test_queries_at_one_place_come_together_there() -> None:
    standing = [Standing(own("left"), HERE), Standing(own("right"), HERE)]
    (query,) = settled_layout("p", wanted_layout(BOTH, BOTH), standing)
    assert (query.name, query.folder, query.begin) == ("@orders", None, HERE)


@pytest.mark.parametrize("other", [THERE, None])
def test_others_go_on_as_they_are(other: dict[tuple[str, int], int] | None) -> None:
    standing = [Standing(own("left"), HERE), Standing(own("right"), other)]
    found = settled_layout("p", wanted_layout(BOTH, BOTH), standing)
    assert found == [own("left"), own("right")]


def test_a_new_output_begins_by_itself() -> None:
    three = {**BOTH, "new": "orders"}
    found = settled_layout("p", wanted_layout(three, three), [Standing(SHARED, HERE)])
    assert found == [SHARED, QueryLayout("new", ("new",))]
    # When it stands where the others do, all come together.
    standing = [Standing(SHARED, THERE), Standing(own("new"), THERE)]
    (query,) = settled_layout("p", wanted_layout(three, three), standing)
    assert (query.outputs, query.folder, query.begin) == (("left", "right", "new"), None, THERE)


def test_an_output_that_is_gone_leaves_the_query_to_the_others() -> None:
    wanted = wanted_layout(["left"], {"left": "orders"}, {"orders"})
    assert settled_layout("p", wanted, [Standing(SHARED, None)]) == [
        replace(SHARED, outputs=("left",))
    ]


def test_an_output_leaves_between_batches_alone() -> None:
    wanted = wanted_layout(BOTH, {"left": "orders"}, {"orders"})
    stay, leave = settled_layout("p", wanted, [Standing(SHARED, HERE)])
    assert stay == replace(SHARED, outputs=("left",))
    assert (leave.name, leave.folder, leave.begin) == ("right", None, HERE)
    with pytest.raises(RunError, match=r"output right leaves the query .* shares with left"):
        settled_layout("p", wanted, [Standing(SHARED, None)])


def test_a_document_is_read_as_it_was_written() -> None:
    for query in (SHARED, replace(own("right"), begin=HERE)):
        assert from_document(query.name, query.document()) == query
