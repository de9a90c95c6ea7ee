"""Expectations, the breaker and bounded runs mean in keyed pipelines what they mean elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from penstock.pipelines import Breaker, decode, expect, expect_or_dead_letter, expect_or_stop
from penstock.pipelines.error import DeclarationError, RunError
from penstock.pipelines.keyed import Event, KeyedPipeline, into, keyed
from penstock.pipelines.keyed.judging import Judging, Rows, StepSpec
from penstock.pipelines.sinks import parquet
from penstock.pipelines.sources.topic import topic
from penstock.pipelines.transforms import dead_letter
from penstock.testing.broker import Broker

pytestmark = [pytest.mark.java, pytest.mark.timeout(400)]

COMMITTED = {"isolation.level": "read_committed"}
PATIENCE_S = 120.0
RULES = (
    expect("round", "amount = floor(amount)"),
    expect_or_dead_letter("positive", "amount > 0"),
    expect_or_stop("plausible", "amount < 1e9 OR amount IS NULL"),
)
both_places = pytest.mark.parametrize("place", ["topic", "spark"])


def adder(place: str = "topic", rules: Any = RULES) -> KeyedPipeline:
    amounts = topic("orders", decode=decode.json("amount double"), expect=rules)

    @keyed(
        name="adder",
        source=amounts,
        outputs={"totals": "totals"},
        state_in=place,  # type: ignore[arg-type]
        breaker=Breaker(share=0.5, rows_min=20),
    )
    def add(state: Any, event: Event, tables: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        total = (state or 0) + event.value["amount"]
        return total, [("totals", event.key, str(total))]

    return add


def order(broker: Broker, *amounts: object) -> None:
    broker.produce("orders", [("a", f'{{"amount": {each}}}') for each in amounts], partition=0)


def totals(broker: Broker, topic: str = "totals") -> list[float]:
    return [float(each.value or b"") for each in broker.read(topic, settings=COMMITTED)]


@both_places
def test_records_that_break_a_rule_are_counted_buried_or_the_end(
    penstock: Broker, pipeline_run: Callable[..., Any], place: str
) -> None:
    penstock.create_topic("orders", partitions=2)
    order(penstock, 1, -5, 2.5, "null", '"much"')
    progress = pipeline_run(adder(place))
    assert totals(penstock) == [1, 3.5]
    assert progress.dead_letters == 3
    assert progress.extra["expectations"] == {
        "events": {
            "round": {"passed": 2, "failed": 2},
            "positive": {"passed": 2, "failed": 2},
            "plausible": {"passed": 4, "failed": 0},
        }
    }
    letters = [
        dict(each.headers)
        for each in penstock.read("adder.dead-letters", count=3, settings=COMMITTED)
    ]
    assert sorted(
        (int(each[dead_letter.OFFSET]), each[dead_letter.ERROR], each.get(dead_letter.RULE))
        for each in letters
    ) == [
        (1, b"ExpectationFailed", b"positive"),
        (3, b"ExpectationFailed", b"positive"),
        (4, b"WrongType", None),
    ]
    order(penstock, 7, 1e10)
    with pytest.raises(RunError, match=r"expectation plausible failed .*: offset 6 of orders-0"):
        pipeline_run(adder(place))
    assert 1e10 not in totals(penstock)
    pipeline_run(adder(place, rules=()), breaker_share=1.0)
    assert totals(penstock) == [1, 3.5, 10.5, 10.5 + 1e10]


@both_places
def test_a_pipeline_whose_events_are_mostly_dead_letters_stops(
    penstock: Broker, pipeline_run: Callable[..., Any], place: str
) -> None:
    penstock.create_topic("orders")
    order(penstock, *[1] * 9, *["x"] * 15)
    said = "adder has stopped: 62% of the last 24 records went to adder.dead-letters"
    with pytest.raises(RunError, match=said):
        pipeline_run(adder(place, rules=()))
    order(penstock, "x")
    pipeline_run(adder(place, rules=()), breaker_share=1.0)
    assert len(penstock.read("adder.dead-letters", count=16, settings=COMMITTED)) == 16


BOUND = {"starting": '{"orders": {"0": 1, "1": 0}}', "ending": '{"orders": {"0": 3, "1": 0}}'}


@both_places
def test_a_run_with_an_end_and_one_that_goes_on_behind_it(
    penstock: Broker,
    pipeline_run: Callable[..., Any],
    pipeline_start: Callable[..., Any],
    place: str,
) -> None:
    penstock.create_topic("orders", partitions=2)
    order(penstock, 1, 2, 4, 8, 16)
    plain = adder(place, rules=())
    running = pipeline_start(plain.beside("first", {"totals": "elsewhere"}), **BOUND)
    assert running.wait(PATIENCE_S)
    assert totals(penstock, "elsewhere") == [2, 6]
    progress = running.progress()
    assert (progress.lag, {each.position for each in progress.partitions}) == (0, {0, 3})
    pipeline_run(plain, after="first")
    assert totals(penstock) == [8, 24]
    assert pipeline_start(plain.beside("history"), before="adder").wait(PATIENCE_S)
    assert totals(penstock) == [8, 24, 1, 3, 7]


def test_a_bounded_run_is_that_for_good(
    penstock: Broker, pipeline_run: Callable[..., Any], pipeline_start: Callable[..., Any]
) -> None:
    penstock.create_topic("orders", partitions=2)
    order(penstock, 1, 2, 4, 8)
    plain = adder(rules=())
    for _ in range(2):
        assert pipeline_start(plain, **BOUND).wait(PATIENCE_S)
        assert totals(penstock) == [2, 6]
    with pytest.raises(RunError, match=r"adder was begun with --from .*another name"):
        pipeline_start(plain)
    pipeline_run(plain.beside("live"), starting="-1h")
    assert totals(penstock) == [2, 6, 1, 3, 7, 15]
    with pytest.raises(RunError, match="live has run before"):
        pipeline_run(plain.beside("live"), ending="latest")


def test_another_name_has_states_and_ways_to_its_sinks_of_its_own() -> None:
    rows = into(parquet("here"), decode=decode.raw(), topic="between")

    @keyed(source=topic("orders"), outputs={"rows": rows, "totals": "totals"}, name="adder")
    def add(state: Any, event: Event, tables: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        return state, []

    other = add.beside("other", {"rows": "there"})
    assert (other.state, other.dead_letters) == ("other.state", "adder.dead-letters")
    assert other.outputs == {"rows": "other.rows", "totals": "totals"}
    assert other.sinks["rows"].sink == parquet("there")
    assert add.outputs["rows"] == "between"
    with pytest.raises(DeclarationError, match="no output big"):
        add.beside("x", {"big": "there"})
    with pytest.raises(DeclarationError, match="leave out decode="):
        keyed(source=topic("orders", expect=RULES), outputs={}, decode=int)


def test_rules_are_counted_for_what_was_not_judged_before() -> None:
    def step(state: Any, event: Event, tables: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        return event.value, []

    spec = StepSpec(pipeline="p", topic="t", step=step, decode=int, rules=RULES)
    values = [b"1", b"2", b"3", b"x"]
    broken = [0b10, 0b11, 0b01, None]
    rows = Rows([b"k"] * 4, values, [5, 6, 7, 8], [0] * 4, lambda _: [], broken)
    judging = Judging(spec, lambda _: None)
    judging.judge(0, rows, {}, start=6)
    counts = judging.counts()
    assert (counts["judged"], counts["failed_0"], counts["failed_1"]) == (2, 2, 1)
    assert [letter.value for letter in judging.dead_letters] == [b"2", b"x"]
    assert judging.changed() == {b"k": b"3"}
