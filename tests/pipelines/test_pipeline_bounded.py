"""Runs with an end, beside a live run and before it: every record once, none left out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Producer

from penstock.pipelines import decode, pipeline, sinks, sources
from penstock.pipelines.error import DeclarationError, RunError
from penstock.pipelines.run.place import parse_place
from penstock.pipelines.transforms import dead_letter
from tests.patience import wait_until

COMMITTED = {"isolation.level": "read_committed"}
PATIENCE_S = 120.0
NOW_MS = 1_700_000_000_000


def test_places_as_a_person_names_them() -> None:
    assert parse_place("earliest", NOW_MS) == "earliest"
    assert parse_place("-2h", NOW_MS) == NOW_MS - 7_200_000
    assert parse_place("-1.5m", NOW_MS) == NOW_MS - 90_000
    assert parse_place("2023-11-14T22:13:20Z", NOW_MS) == NOW_MS
    assert parse_place("2023-11-14 22:13:20", NOW_MS) == NOW_MS
    assert parse_place('{"t": {"0": 5, "1": -1}}', NOW_MS) == {("t", 0): 5, ("t", 1): -1}
    for wrong in ("yesterday", "-2", "{}x", '{"t": 5}'):
        with pytest.raises(RunError, match=r"no place|no offsets"):
            parse_place(wrong, NOW_MS)


def copy() -> Any:
    @pipeline(
        inputs={"orders": sources.topic("orders", decode=decode.json("id int"))},
        outputs={"out": sinks.topic("copied")},
    )
    def copy(orders: Any) -> Any:
        return orders.selectExpr("string(id) AS key", "string(id) AS value")

    return copy


class Orders:
    """Numbered, turn by turn into two partitions; every tenth is poison."""

    def __init__(self, broker: Any) -> None:
        self.broker = broker
        self.count = 0
        broker.create_topic("orders", partitions=2)

    def add(self, count: int, timestamp_ms: int = 0) -> None:
        producer = Producer({"bootstrap.servers": self.broker.bootstrap_servers})
        for n in range(self.count, self.count + count):
            value = f"{n}" if n % 10 == 7 else json.dumps({"id": n})
            producer.produce("orders", value, partition=n % 2, timestamp=timestamp_ms)
        assert producer.flush(PATIENCE_S) == 0
        self.count += count

    def poison(self, numbers: range) -> list[int]:
        return [n for n in numbers if n % 10 == 7]

    def good(self, numbers: range) -> list[int]:
        return [n for n in numbers if n % 10 != 7]


def keys(broker: Any, topic: str) -> list[int]:
    return sorted(int(each.key) for each in broker.read(topic, settings=COMMITTED))


def letters(broker: Any, pipeline: str) -> list[int]:
    found = broker.read("copy.dead-letters", settings=COMMITTED)
    own = [each for each in found if dict(each.headers)[dead_letter.PIPELINE] == pipeline.encode()]
    return sorted(int(each.value) for each in own)


@pytest.mark.timeout(400)
def test_history_is_read_beside_the_live_run_up_to_where_that_began(
    penstock: Any, pipeline_start: Callable[..., Any]
) -> None:
    orders = Orders(penstock)
    orders.add(40)
    live = pipeline_start(copy(), starting="latest")
    wait_until(lambda: live.queries[0].lastProgress is not None)
    orders.add(40)
    wait_until(lambda: live.progress().output_rows == len(orders.good(range(40, 80))))
    history = pipeline_start(copy().beside("history"), before="copy")
    orders.add(20)
    assert history.wait(PATIENCE_S)
    wait_until(lambda: live.progress().output_rows == len(orders.good(range(40, 100))))
    live.stop()
    assert keys(penstock, "copied") == orders.good(range(100))
    assert letters(penstock, "history") == orders.poison(range(40))
    assert letters(penstock, "copy") == orders.poison(range(40, 100))
    progress = history.progress()
    assert (progress.input_rows, progress.output_rows, progress.lag) == (40, 36, 0)
    assert {each.position for each in progress.partitions} == {20}


@pytest.mark.timeout(400)
def test_a_run_goes_on_behind_a_bounded_one_and_both_only_so(
    penstock: Any, pipeline_run: Callable[..., Any], pipeline_start: Callable[..., Any]
) -> None:
    orders = Orders(penstock)
    orders.add(40, timestamp_ms=1_000_000)
    orders.add(40, timestamp_ms=9_000_000)
    first = copy().beside("first", {"out": "elsewhere"})
    # The end is a time in the past: 1970-01-01 00:16:40 and 02:30:00 are on either side of it.
    bound = {"starting": '{"orders": {"0": 5, "1": -2}}', "ending": "1970-01-01T01:00:00"}
    running = pipeline_start(first, **bound)
    assert running.wait(PATIENCE_S)
    wanted = [n for n in range(40) if n % 2 or n >= 10]
    assert keys(penstock, "elsewhere") == [n for n in wanted if n % 10 != 7]
    again = pipeline_start(first, **bound)
    assert again.wait(PATIENCE_S)
    assert Counter(keys(penstock, "elsewhere")) == Counter(n for n in wanted if n % 10 != 7)
    with pytest.raises(RunError, match=r"first was begun with --from .* --to 1970.*another name"):
        pipeline_start(first, starting="earliest", ending="1970-01-01T02:00:00")
    with pytest.raises(RunError, match="first was begun with"):
        pipeline_start(first)
    pipeline_run(copy(), after="first")
    orders.add(20)
    pipeline_run(copy(), after="first")
    assert keys(penstock, "copied") == orders.good(range(40, 100))
    assert letters(penstock, "first") == orders.poison(range(40))
    assert letters(penstock, "copy") == orders.poison(range(40, 100))
    with pytest.raises(RunError, match=r"copy was begun with .*--after first"):
        pipeline_run(copy(), ending="latest")


def test_what_cannot_be_is_one_line(penstock: Any, pipeline_run: Callable[..., Any]) -> None:
    penstock.create_topic("orders", partitions=2)
    for settings, said in [
        ({"after": "nobody"}, "nobody is no bounded run"),
        ({"before": "nobody"}, "nobody has not begun"),
        ({"ending": "2100-01-01"}, "yet to come"),
        ({"ending": '{"orders": {"0": 5}}'}, "orders-1 are missing"),
    ]:
        with pytest.raises(RunError, match=said):
            pipeline_run(copy(), **settings)
    with pytest.raises(DeclarationError, match="no output big"):
        copy().beside("x", {"big": "there"})
