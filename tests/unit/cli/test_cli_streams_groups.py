"""`penstock groups` with streams groups, of Penstock and of Apache Kafka."""

from __future__ import annotations

from confluent_kafka import Consumer, TopicPartition

from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from penstock.testing.record import produce_records
from tests.node.wire_kit import Wire
from tests.patience import wait_until
from tests.transcripts.streams_script import topology_of
from tests.unit.cli.conftest import Command


def join(group: str, topic: str) -> StreamsGroupHeartbeatRequest:
    return StreamsGroupHeartbeatRequest(
        group_id=group,
        member_id="m",
        rebalance_timeout_ms=60_000,
        topology=topology_of(f"0 in:{topic}"),
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        process_id="p",
    )


def commit(command: Command, group: str, topic: str) -> None:
    consumer = Consumer({"bootstrap.servers": command.servers, "group.id": group})
    consumer.commit(offsets=[TopicPartition(topic, 0, 0)], asynchronous=False)
    consumer.close()


def test_shown_reset_and_deleted(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    produce_records(command.servers, topic, [("key", "value")])
    commit(command, topic, topic)
    with Wire(command.servers) as wire:
        asked = FindCoordinatorRequest(coordinator_keys=[topic])
        wait_until(lambda: not wire.call(asked, 4).coordinators[0].error_code)
        # It asks anew each time, as if the answer had been lost, until it has its task.
        wait_until(lambda: bool(wire.call(join(topic, topic), 0).active_tasks))
        shown = command.run("groups", "describe", topic, "--json").json
        assert (shown["protocol"], shown["state"]) == ("streams", "Stable")
        (member,) = command.run("groups", "members", topic, "--json").json
        assert (member["partitions"], member["subscribed"]) == ([f"{topic}-0"], [topic])
        assert "--stop-members" in command.fail("groups", "reset", topic, "--to", "end", "--yes")
        command.run("groups", "reset", topic, "--to", "end", "--yes", "--stop-members")
    command.run("groups", "delete", topic, "--yes")
    assert "there is no group" in command.fail("groups", "describe", topic)
