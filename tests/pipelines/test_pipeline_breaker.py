"""The breaker: a window of batches by itself, and a run that it stops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.pipelines import Breaker, decode, pipeline, sinks, sources
from penstock.pipelines.breaker import BreakerWindow, Tripped
from penstock.pipelines.error import DeclarationError, RunError
from penstock.pipelines.transforms import dead_letter

HALF = Breaker(share=0.5, rows_min=100, window_s=60)


def test_it_trips_above_its_share_and_not_at_it() -> None:
    window = BreakerWindow(HALF)
    assert window.add(0, 100, 50) is None
    assert window.add(1, 100, 51) == Tripped(200, 101)


def test_few_rows_say_nothing() -> None:
    window = BreakerWindow(HALF)
    assert window.add(0, 99, 99) is None
    assert window.add(1, 1, 0) == Tripped(100, 99)


def test_batches_leave_the_window() -> None:
    window = BreakerWindow(HALF)
    assert window.add(0, 99, 99) is None
    assert window.add(59, 0, 0) is None
    assert window.add(60, 99, 99) is None
    assert window.add(90, 101, 0) is None
    assert window.add(121, 100, 100) is None
    assert window.add(122, 10, 10) == Tripped(211, 110)


def test_one_long_batch_is_a_window_of_its_own() -> None:
    window = BreakerWindow(HALF)
    assert window.add(1_000, 1_000_000, 0) is None
    assert window.add(5_000, 100, 60) == Tripped(100, 60)


def test_a_share_of_one_never_trips() -> None:
    assert BreakerWindow(Breaker(share=1, rows_min=1)).add(0, 10, 10) is None


@pytest.mark.parametrize("wrong", [{"share": 1.1}, {"share": -1}, {"rows_min": 0}, {"window_s": 0}])
def test_nonsense_is_refused(wrong: Any) -> None:
    with pytest.raises(DeclarationError, match="a breaker has"):
        Breaker(**wrong)


def watched(batch_rows: int) -> Any:
    limit = {"maxOffsetsPerTrigger": str(batch_rows)}

    @pipeline(
        inputs={"orders": sources.topic("orders", decode=decode.json("id string"), options=limit)},
        outputs={"out": sinks.topic("out")},
        breaker=Breaker(share=0.5, rows_min=20),
    )
    def watched(orders: Any) -> Any:
        return orders.selectExpr("id AS key", "id AS value")

    return watched


def test_a_run_stops_before_the_whole_topic_is_moved_and_goes_on_from_there(
    penstock: Any, pipeline_run: Callable[..., Any]
) -> None:
    penstock.create_topic("orders")
    # Batches of 40: of the first 24 are poison, which is too much. Twenty more would follow.
    values = ["good"] * 16 + ["poison"] * 24 + ["good", "poison"] * 400
    made = [f'{{"id":"{n}"}}' if what == "good" else what for n, what in enumerate(values)]
    penstock.produce("orders", made)
    with pytest.raises(RunError) as caught:
        pipeline_run(watched(40))
    assert str(caught.value).startswith(
        "watched has stopped: 60% of the last 40 records went to watched.dead-letters, and its"
        " breaker allows 50%: see why with `penstock dlq list watched.dead-letters`"
    )
    committed = {"isolation.level": "read_committed"}

    def letters() -> list[int]:
        found = penstock.read("watched.dead-letters", settings=committed)
        return sorted(int(dict(each.headers)[dead_letter.OFFSET]) for each in found)

    assert letters()[:24] == list(range(16, 40))
    assert len(letters()) < 424
    pipeline_run(watched(5000), breaker_share=1.0)
    assert letters() == [n for n, what in enumerate(values) if what == "poison"]
    out = penstock.read("out", settings=committed)
    good = [n for n, what in enumerate(values) if what == "good"]
    assert sorted(int(each.key) for each in out) == good
