"""A compacted topic followed as a table: first read, changes, withdrawal, outage. Without Spark."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from penstock.pipelines.error import RunError
from penstock.pipelines.kafka import admin
from penstock.pipelines.run_settings import RunSettings
from penstock.pipelines.sources.table import (
    TableFollower,
    TableSource,
    follow,
    table,
    unfollow,
)
from penstock.pipelines.topic_making import ensure_topic
from penstock.testing.broker import Broker
from tests.patience import wait_until

CHANGE_S = 2.0


@pytest.fixture
def limits(penstock: Broker) -> Iterator[TableSource]:
    client = admin({"bootstrap.servers": penstock.bootstrap_servers})
    ensure_topic(client, "limits", 2, compacted=True)
    source = table("limits", decode=orjson.loads)
    yield source
    unfollow(source)


def follower(source: TableSource, broker: Broker) -> TableFollower:
    return follow(source, {"bootstrap.servers": broker.bootstrap_servers})


def test_the_first_use_waits_for_the_whole_table(penstock: Broker, limits: TableSource) -> None:
    penstock.produce("limits", [(f"k{n}", b"%d" % n) for n in range(3000)])
    rows = follower(limits, penstock).rows()
    assert len(rows) == 3000
    assert rows["k2999"] == 2999


def test_changes_and_withdrawals_are_seen_within_two_seconds(
    penstock: Broker, limits: TableSource
) -> None:
    penstock.produce("limits", [("a", "1"), ("b", "2")])
    following = follower(limits, penstock)
    rows = following.rows()
    assert dict(rows) == {"a": 1, "b": 2}
    version = following.version
    penstock.produce("limits", [("a", "7"), ("c", "3")])
    wait_until(lambda: dict(rows) == {"a": 7, "b": 2, "c": 3}, patience_s=CHANGE_S)
    assert following.version > version
    penstock.produce("limits", [("b", None)])
    wait_until(lambda: "b" not in rows, patience_s=CHANGE_S)


def test_an_empty_table_is_ready_too(penstock: Broker, limits: TableSource) -> None:
    assert dict(follower(limits, penstock).rows()) == {}


def test_a_table_that_is_not_there_is_told(penstock: Broker) -> None:
    following = TableFollower(
        table("nowhere", decode=orjson.loads), {"bootstrap.servers": penstock.bootstrap_servers}
    ).start()
    with pytest.raises(RunError, match="nowhere could not be read"):
        following.rows(timeout_s=0.5)
    following.close()


def test_a_row_that_does_not_decode_leaves_the_one_before(
    penstock: Broker, limits: TableSource
) -> None:
    penstock.produce("limits", [("a", "1"), ("b", "2")])
    following = follower(limits, penstock)
    rows = following.rows()
    penstock.produce("limits", [("a", "{"), ("b", "3")])
    wait_until(lambda: rows["b"] == 3 and following.undecodable == 1)
    assert rows["a"] == 1


def test_what_is_built_of_the_rows_is_built_anew_only_after_a_change(
    penstock: Broker,
) -> None:
    ensure_topic(
        admin({"bootstrap.servers": penstock.bootstrap_servers}), "limits", 1, compacted=True
    )
    built: list[dict[str, Any]] = []

    def build(rows: Any) -> int:
        built.append(rows)
        return int(sum(rows.values()))

    source = table("limits", decode=orjson.loads, build=build)
    penstock.produce("limits", [("a", "1"), ("b", "2")])
    following = follower(source, penstock)
    assert [following.view() for _ in range(5)] == [3] * 5
    assert len(built) == 1
    penstock.produce("limits", [("a", "5")])
    wait_until(lambda: following.view() == 7)
    assert len(built) == 2
    unfollow(source)


def test_a_process_has_one_follower_for_a_table_however_often_it_is_pickled(
    penstock: Broker, limits: TableSource
) -> None:
    bound = limits.open(RunSettings(bootstrap_servers=penstock.bootstrap_servers))
    again = pickle.loads(pickle.dumps(bound))
    assert again.follower() is bound.follower()
    assert again.follower() is follower(limits, penstock)


def test_the_last_rows_stay_through_an_outage_and_it_is_told(
    penstock: Broker, limits: TableSource
) -> None:
    penstock.produce("limits", [("a", "1")])
    following = follower(limits, penstock)
    rows = following.rows()
    penstock.kill()
    wait_until(lambda: following.stale_since is not None)
    assert dict(rows) == {"a": 1}
    penstock.start()
    penstock.produce("limits", [("a", "2")])
    wait_until(lambda: rows["a"] == 2)
    wait_until(lambda: following.stale_since is None)


def test_partitions_that_are_added_later_are_read(penstock: Broker, limits: TableSource) -> None:
    from confluent_kafka.admin import NewPartitions

    rows = follower(limits, penstock).rows()
    client = admin({"bootstrap.servers": penstock.bootstrap_servers})
    client.create_partitions([NewPartitions("limits", 3)])["limits"].result(10)
    penstock.produce("limits", [("new", "1")], partition=2)
    wait_until(lambda: "new" in rows)
