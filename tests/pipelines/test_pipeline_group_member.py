"""A running pipeline is a consumer group: seen, committed, and not to be reset under its feet."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from penstock.pipelines import decode, pipeline, sinks, sources
from penstock.pipelines.error import AlreadyRunningError
from penstock.pipelines.run import group_member
from penstock.pipelines.run.group_member import GroupMember
from penstock.pipelines.run_settings import RunSettings
from tests.patience import wait_until

GROUP = "copy"


@pipeline(
    inputs={"orders": sources.topic("orders", decode=decode.text())},
    outputs={"copies": sinks.topic("copies")},
)
def copy(orders: Any) -> Any:
    return orders.selectExpr("_key AS key", "value")


def admin_of(penstock: Any) -> AdminClient:
    silent = logging.getLogger("tests.librdkafka")
    return AdminClient({"bootstrap.servers": penstock.bootstrap_servers}, logger=silent)


def committed(admin: AdminClient) -> dict[int, int]:
    asked = [ConsumerGroupTopicPartitions(GROUP)]
    found = admin.list_consumer_group_offsets(asked)[GROUP].result(10).topic_partitions
    return {each.partition: each.offset for each in found}


def reset(admin: AdminClient, offset: int) -> None:
    places = [TopicPartition("orders", 0, offset)]
    asked = [ConsumerGroupTopicPartitions(GROUP, places)]
    (answer,) = admin.alter_consumer_group_offsets(asked)[GROUP].result(10).topic_partitions
    if answer.error is not None:
        raise KafkaException(answer.error)


def values(penstock: Any) -> list[bytes]:
    return sorted(each.value for each in penstock.read("copies"))


def test_the_group_shows_how_far_it_is_and_refuses_a_reset(
    penstock: Any, pipeline_start: Callable[..., Any], tmp_path: Any
) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", ["a", "b"])
    admin = admin_of(penstock)
    running = pipeline_start(copy)
    wait_until(lambda: committed(admin) == {0: 2})
    described = admin.describe_consumer_groups([GROUP])[GROUP].result(10)
    (member,) = described.members
    assert described.state.name == "STABLE"
    assert "penstock-pipeline@" in member.client_id
    assert [each.topic for each in member.assignment.topic_partitions] == ["orders"]
    with pytest.raises(KafkaException):
        reset(admin, 0)
    with pytest.raises(AlreadyRunningError, match="runs already"):
        pipeline_start(copy)
    penstock.produce("orders", ["c"])
    wait_until(lambda: committed(admin) == {0: 3})
    wait_until(lambda: running.progress().input_rows == 3)
    running.stop()
    assert values(penstock) == [b"a", b"b", b"c"]
    assert admin.describe_consumer_groups([GROUP])[GROUP].result(10).members == []
    reset(admin, 0)


def test_a_reset_counts_only_when_asked_for(
    penstock: Any, pipeline_run: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", ["a", "b", "c"])
    admin = admin_of(penstock)
    pipeline_run(copy)
    assert committed(admin) == {0: 3}
    reset(admin, 1)
    with caplog.at_level(logging.WARNING, "penstock"):
        pipeline_run(copy)
    assert "not where this pipeline stands" in caplog.text
    assert values(penstock) == [b"a", b"b", b"c"]
    reset(admin, 1)
    pipeline_run(copy, from_group=True)
    assert values(penstock) == [b"a", b"b", b"b", b"c", b"c"]
    assert committed(admin) == {0: 3}
    # Asked for again, with nothing to go back to, it goes on where it is.
    penstock.produce("orders", ["d"])
    pipeline_run(copy, from_group=True)
    assert values(penstock)[5:] == [b"d"]


def test_a_member_elsewhere_refuses_the_run(
    penstock: Any, pipeline_run: Callable[..., Any]
) -> None:
    from confluent_kafka import Consumer

    penstock.create_topic("orders")
    own = {"bootstrap.servers": penstock.bootstrap_servers, "group.id": GROUP}
    consumer = Consumer(own | {"client.id": "penstock-pipeline@elsewhere/1"})
    try:
        consumer.subscribe(["orders"])
        deadline = time.monotonic() + 30
        while not consumer.assignment() and time.monotonic() < deadline:
            consumer.poll(0.1)
        with pytest.raises(AlreadyRunningError, match="penstock-pipeline@elsewhere/1"):
            pipeline_run(copy)
    finally:
        consumer.close()


def test_offsets_are_json_of_spark(spark: Any) -> None:
    from penstock.pipelines.run.plan import positions_json

    found = json.loads(positions_json({("a", 0): 1, ("a", 1): -2, ("b", 0): 3}))
    assert found == {"a": {"0": 1, "1": -2}, "b": {"0": 3}}


def test_a_member_of_topics_that_do_not_exist_leaves_at_once(
    penstock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_member, "_TIMEOUT_S", 3600.0)  # so long it would be waited for
    settings = RunSettings(bootstrap_servers=penstock.bootstrap_servers)
    member = GroupMember("nobody", ["gone"], settings)
    member.join()
    assert not member.wait_joined(1.0)
    member.leave()
