"""Expectations on rows: counted by rule, kept as dead letters once, or the end of the run."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from penstock.pipelines import (
    decode,
    each,
    expect,
    expect_or_dead_letter,
    expect_or_stop,
    keyed,
    pipeline,
    sinks,
    sources,
)
from penstock.pipelines.error import DeclarationError, RunError
from penstock.pipelines.run.failure import one_line
from penstock.pipelines.transforms import dead_letter
from penstock.pipelines.transforms.expectation import judged_output
from tests.pipelines.test_pipeline_decode import rows

ORDER = "id string, amount double, value string, key string"
COMMITTED = {"isolation.level": "read_committed"}


def judged(spark: Any, source: Any, values: list[bytes | None]) -> list[Any]:
    """For each value its rule, or whether it is a row of the function."""
    made = source.judged(source.decode.apply(rows(spark, values))).orderBy("offset").collect()
    return [row._rule or row._error or row._record is not None for row in made]


def test_the_first_rule_that_fails_is_named_and_null_fails(spark: Any) -> None:
    source = sources.topic(
        "t",
        decode=decode.json(ORDER),
        expect=[
            expect("counted", "false"),
            expect_or_dead_letter("positive", "amount > 0"),
            expect_or_dead_letter("small", "amount < 10 AND _offset >= 0 AND _topic = 't'"),
        ],
    )
    amounts = [b'{"amount":5}', b'{"amount":50}', b'{"amount":-5}', b"{}", b"no", None]
    wanted = [True, "small", "positive", "positive", "NotJson", "Tombstone"]
    assert judged(spark, source, list(amounts)) == wanted


def test_a_field_may_be_named_like_a_column_of_the_raw_row(spark: Any) -> None:
    source = sources.topic(
        "t",
        decode=decode.json(ORDER),
        expect=[expect_or_dead_letter("both", "value = 'v' AND key = 'x' AND _key = 'k'")],
    )
    values = [b'{"value":"v","key":"x"}', b'{"value":"v","key":"k"}']
    assert judged(spark, source, list(values)) == [True, "both"]


def test_a_condition_may_have_lines_and_comments(spark: Any) -> None:
    condition = """
        amount > 0 -- none for nothing
        AND id <> '' -- nor for nobody
    """
    frame = spark.createDataFrame([("a", 1), ("", 1)], "id string, amount int")
    rules = [expect_or_stop("somebody's", condition)]
    assert judged_output(frame.limit(1), rules, metric=None, output="o").count() == 1
    with pytest.raises(Exception, match="nobody") as failed:
        judged_output(frame, rules, metric=None, output="o").collect()
    # Of several lines the first would be told, and not where it happened.
    assert "-- nor for nobody): a row of output o" in one_line(failed.value)


def test_a_kept_tombstone_is_not_judged(spark: Any) -> None:
    decoder = decode.json("id string", tombstones="keep")
    source = sources.topic("t", decode=decoder, expect=[expect_or_dead_letter("id", "id > ''")])
    (row,) = source.judged(decoder.apply(rows(spark, [None]))).collect()
    assert (row._error, row._rule, row._record) == (None, None, None)


def test_an_output_that_breaks_a_rule_stops(spark: Any) -> None:
    frame = spark.createDataFrame([("a", 1), ("b", None)], "id string, n int")
    fine = judged_output(frame, [expect_or_stop("id", "id < 'c'")], metric=None, output="o")
    assert fine.count() == 2
    bad = judged_output(frame, [expect_or_stop("n", "n > 0")], metric=None, output="o")
    with pytest.raises(Exception, match=r"expectation n failed \(n > 0\): a row of output o"):
        bad.collect()


def test_what_cannot_be_is_refused_when_it_is_declared() -> None:
    with pytest.raises(DeclarationError, match="two expectations named a"):
        sources.topic("t", expect=[expect("a", "x"), expect_or_stop("a", "y")])
    with pytest.raises(DeclarationError, match="current_timestamp changes"):
        expect_or_dead_letter("new", "at > current_timestamp() - interval 1 day")
    source = sources.topic("t", expect=[expect("a", "value is not null")])
    with pytest.raises(DeclarationError, match="leave out decode="):
        keyed(source=source, outputs={}, decode=int)
    orders = pipeline(
        inputs={"orders": source},
        outputs={"orders": sinks.topic("out")},
        expect={"orders": [expect("b", "true"), expect("a", "true")]},
        name="p",
    )
    with pytest.raises(DeclarationError, match="orders of p has two expectations named a"):
        orders(lambda: None)
    out = {"out": sinks.topic("out")}
    for rules, said in [
        ({"out": [expect_or_dead_letter("a", "true")]}, "declare it on the source"),
        ({"in": [expect("a", "true")]}, "which is no output"),
    ]:
        declare = pipeline(inputs={}, outputs=out, expect=rules, name="p")
        with pytest.raises(DeclarationError, match=said):
            declare(lambda: None)


def checked(*, stop_at: float = 1e9) -> Any:
    orders = sources.topic(
        "orders",
        decode=decode.json("id string NOT NULL, amount double"),
        expect=[
            expect("known", "amount IS NOT NULL"),
            expect_or_dead_letter("positive", "amount > 0"),
            expect_or_stop("sane", f"coalesce(amount, 0) < {stop_at}"),
        ],
    )

    @pipeline(
        inputs={"orders": orders},
        outputs={"out": sinks.topic("out")},
        expect={"out": [expect("large", "value > '5'")]},
    )
    def checked(orders: Any) -> Any:
        return orders.selectExpr("id AS key", "string(amount) AS value")

    return checked


def order(name: str, amount: float | None) -> str:
    return json.dumps({"id": name, "amount": amount})


def test_rules_are_counted_and_letters_name_theirs(
    penstock: Any, pipeline_run: Callable[..., Any]
) -> None:
    from penstock.cli.pipeline_view import figure_rows
    from penstock.pipelines.run.metric import RunMetrics

    penstock.create_topic("orders")
    amounts = {"a": 7.0, "b": 3.0, "c": -1.0, "d": None}
    penstock.produce("orders", [*(order(*each) for each in amounts.items()), "no order"])
    progress = pipeline_run(checked())
    assert sorted(each.key for each in penstock.read("out", settings=COMMITTED)) == [b"a", b"b"]
    letters = penstock.read("checked.dead-letters", settings=COMMITTED)
    said = {int(dict(each.headers)[dead_letter.OFFSET]): dict(each.headers) for each in letters}
    assert {at: headers.get(dead_letter.RULE) for at, headers in said.items()} == {
        2: b"positive",
        3: b"positive",
        4: None,
    }
    assert said[2][dead_letter.ERROR] == b"ExpectationFailed"
    assert said[2][dead_letter.MESSAGE] == b"expectation positive failed (amount > 0)"
    assert progress.dead_letters == 3
    assert progress.extra["expectations"] == {
        "orders": {
            "known": {"passed": 3, "failed": 1},
            "positive": {"passed": 2, "failed": 2},
            "sane": {"passed": 4, "failed": 0},
        },
        "out": {"large": {"passed": 1, "failed": 1}},
    }
    assert ("orders: positive", "2 passed, 2 failed") in figure_rows(progress.document())
    samples = [
        each for metric in RunMetrics({"p": lambda: progress}).collect() for each in metric.samples
    ]
    labels = {"pipeline": "p", "dataset": "orders", "rule": "positive", "outcome": "failed"}
    (sample,) = [each for each in samples if each.labels == labels]
    assert (sample.name, sample.value) == ("penstock_pipeline_expectation_rows_total", 2)


def test_a_row_that_must_not_be_stops_the_run_until_the_rule_is_mended(
    penstock: Any, pipeline_run: Callable[..., Any]
) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", [order("a", 7), order("b", 700)])
    with pytest.raises(RunError) as caught:
        pipeline_run(checked(stop_at=100))
    assert "expectation sane failed (coalesce(amount, 0) < 100)" in str(caught.value)
    assert "offset 1 of orders-0" in str(caught.value) and "\n" not in str(caught.value)
    assert penstock.read("out", settings=COMMITTED) == []
    pipeline_run(checked(stop_at=1000))
    assert sorted(each.key for each in penstock.read("out", settings=COMMITTED)) == [b"a", b"b"]


def test_what_a_function_returns_is_judged_and_not_made_again(
    penstock: Any, pipeline_run: Callable[..., Any], tmp_path: Any
) -> None:
    calls = str(tmp_path / "calls")

    @each("id string, half double")
    def halved(record: Any) -> Any:
        with open(calls, "a") as file:
            file.write(record["id"])
        return {"id": record["id"], "half": record["amount"] / 2}

    source = sources.topic(
        "orders",
        decode=decode.json("id string, amount double"),
        each=halved,
        expect=[expect_or_dead_letter("much", "half >= 2")],
    )

    @pipeline(inputs={"orders": source}, outputs={"out": sinks.topic("out")})
    def halves(orders: Any) -> Any:
        return orders.selectExpr("id AS key", "string(half) AS value")

    penstock.create_topic("orders")
    penstock.produce("orders", [order("a", 4), order("b", 2), order("c", None)])
    progress = pipeline_run(halves)
    assert [each.value for each in penstock.read("out", settings=COMMITTED)] == [b"2.0"]
    letters = penstock.read("halves.dead-letters", settings=COMMITTED)
    found = sorted(
        (dict(each.headers)[dead_letter.ERROR], dict(each.headers).get(dead_letter.RULE))
        for each in letters
    )
    assert found == [(b"ExpectationFailed", b"much"), (b"TypeError", None)]
    assert progress.extra["expectations"]["orders"]["much"] == {"passed": 1, "failed": 1}
    with open(calls) as file:
        assert sorted(file.read()) == ["a", "b", "c"]


def test_a_letter_that_failed_a_rule_before_does_not_keep_its_name(spark: Any) -> None:
    at = datetime.fromisoformat("2026-01-02T03:04:05")
    old = [(dead_letter.RULE, b"old"), ("own", b"1")]
    raw = spark.createDataFrame([(None, b"no", old, "t", 0, 0, at)], rows(spark, []).schema)
    (letter,) = dead_letter.dead_letters(decode.json("id string").apply(raw), "p").collect()
    names = [each["key"] for each in letter.headers]
    assert dead_letter.RULE not in names and "own" in names
