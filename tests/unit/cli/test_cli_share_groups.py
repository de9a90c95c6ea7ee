"""`penstock groups` and `penstock lag` with share groups, of Penstock and of Apache Kafka."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from confluent_kafka import AcknowledgeType, Message

from penstock.testing.record import produce_records
from tests.conformance.clients.raw import Connection
from tests.conformance.clients.share import set_group, share_member
from tests.patience import wait_until
from tests.unit.cli.conftest import Command


def test_shown_reset_undone_and_deleted(command: Command, topic: str, tmp_path: Path) -> None:
    command.run("topics", "create", topic, "-p", "1")
    with closing(Connection(command.servers)) as connection:
        set_group(connection, topic, auto_offset_reset="earliest")
    produce_records(command.servers, topic, [("key", str(n)) for n in range(10)])

    def judge(message: Message) -> AcknowledgeType:
        """All but the first two: the start of the group stays, and what waits is counted."""
        is_done = int(message.value() or b"") > 1
        return AcknowledgeType.ACCEPT if is_done else AcknowledgeType.RELEASE

    def row() -> tuple[object, ...]:
        found = command.try_run("groups", "describe", topic, "--json")
        rows = found.json["partitions"] if found.code == 0 else []
        return tuple(rows[0][each] for each in ("committed", "end", "lag", "members") if rows)

    whole = (
        "SELECT state, member_count, start_offset + done_count, end_offset, lag, lag_seconds > 0 "
        "FROM ShareGroup JOIN SharePartition USING (group_id) "
        f"JOIN PartitionLag USING (group_id, topic, partition) WHERE group_id = '{topic}'"
    )

    def select(statement: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(tmp_path / "catalog.db")) as connection:
            return connection.execute(statement).fetchall()

    def sync() -> list[tuple[Any, ...]]:
        command.run("catalog", "sync", "--once", "-d", f"sqlite:///{tmp_path}/catalog.db")
        return select(whole)

    def live() -> list[tuple[Any, ...]]:
        return [tuple(json.loads(e).values()) for e in command.run("sql", "--json", whole).lines]

    with share_member(command.servers, topic, topic) as one:
        with share_member(command.servers, topic, topic) as other:
            wait_until(lambda: one.poll(judge) + other.poll(judge) >= 0 and row() == (0, 10, 2, 2))
            assigned = command.run("groups", "members", topic, "--json").json
            assert [each["partitions"] for each in assigned] == [[f"{topic}-0"]] * 2
        (behind,) = command.run("lag", topic, "--json").json
        assert (behind["lag"], behind["topic"], behind["members"]) == (2, topic, 1)
        assert behind["lag_seconds"] > 0
        assert sync() == [("Stable", 1, 8, 10, 2, True)] == live()
        members = f"SELECT client_id, group_type FROM GroupMember WHERE group_id = '{topic}'"
        assert select(members) == [("share-member", "share")]
        for table in ("ConsumerGroup", "PartitionAssignment"):
            assert not select(f"SELECT * FROM {table} WHERE group_id = '{topic}'")
        listed = command.run("groups", "list", "--json").json
        assert [e["protocol"] for e in listed if e["group"] == topic] == ["share"]
        assert "is a share group" in command.fail("groups", "check", topic, topic)
        refused = command.fail("groups", "reset", topic, "--to", "end", "--yes")
        assert "has 1 member" in refused and "--stop-members" in refused
        command.run("groups", "reset", topic, "--to", "5", "--yes", "--stop-members")
    assert row()[:3] == (5, 10, 5)
    command.run("groups", "undo", topic, "--yes")
    assert row()[0] == 0
    # What was done with before the reset is done with no more: a share group keeps one start.
    command.run("groups", "reset", topic, "--to", "8", "--yes")
    with share_member(command.servers, topic, topic) as late:
        wait_until(lambda: late.poll() >= 0 and late.values == [b"8", b"9"])
        wait_until(lambda: row()[2] == 0)
    assert sync() == [("Empty", 0, 10, 10, 0, False)] == live()
    command.run("groups", "delete", topic, "--yes")
    assert sync() == []
    assert not select(f"SELECT * FROM PartitionLag WHERE group_id = '{topic}'")
    assert "there is no group" in command.fail("groups", "describe", topic)
