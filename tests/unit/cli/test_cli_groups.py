"""`penstock groups`, `lag` and `sla`, against Penstock and Apache Kafka, with real consumers."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from penstock.cli.failure import Failure
from penstock.cli.group.order import ranked
from penstock.cli.group.state import Group, GroupLag, PartitionLag
from penstock.cli.group.view import lag_document, rank_document, rank_row
from penstock.cli.group.words import summary
from penstock.cli.wire_call import BrokerConnection
from penstock.protocol.codec import encode
from penstock.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
)
from tests.unit.cli.conftest import Command

MINUTE_MS = 60_000


def write(command: Command, topic: str, ages_ms: list[int], partition: int = 0) -> None:
    now_ms = int(time.time() * 1000)
    producer = Producer({"bootstrap.servers": command.servers, "linger.ms": 100})
    for age_ms in ages_ms:
        producer.produce(topic, b"record", partition=partition, timestamp=now_ms - age_ms)
    assert producer.flush(30) == 0


def commit(command: Command, group: str, topic: str, *offsets: int) -> None:
    consumer = Consumer({"bootstrap.servers": command.servers, "group.id": group})
    places = [TopicPartition(topic, index, offset) for index, offset in enumerate(offsets)]
    consumer.commit(offsets=places, asynchronous=False)
    consumer.close()


@contextmanager
def member(command: Command, group: str, topic: str, protocol: str) -> Iterator[Consumer]:
    consumer = Consumer(
        {
            "bootstrap.servers": command.servers,
            "group.id": group,
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    try:
        yield consumer
    finally:
        consumer.close()


def read(consumer: Consumer, count: int) -> list[int]:
    offsets: list[int] = []
    deadline = time.monotonic() + 60
    while len(offsets) < count:
        assert time.monotonic() < deadline, f"{len(offsets)} of {count} records came"
        offsets += [int(each.offset()) for each in consumer.consume(count, 0.5) if not each.error()]
    return offsets


@pytest.fixture
def behind(command: Command, topic: str) -> str:
    """A topic of two partitions, and a group of its name: 2 records behind, and none."""
    command.run("topics", "create", topic, "-p", "2")
    write(command, topic, [30 * MINUTE_MS, 20 * MINUTE_MS, 10 * MINUTE_MS])
    write(command, topic, [0], partition=1)
    commit(command, topic, topic, 1, 1)
    return topic


def test_how_far_a_group_is_behind(command: Command, behind: str) -> None:
    assert behind in [each["group"] for each in command.run("groups", "list", "--json").json]
    found = command.run("groups", "describe", behind, "--json").json
    assert (found["state"], found["members"], found["lag"]) == ("Empty", 0, 2)
    assert 1200 <= found["lag_seconds"] < 1700
    first, second = found["partitions"]
    assert (first["committed"], first["end"], first["lag"]) == (1, 3, 2)
    assert (second["lag"], second["lag_seconds"]) == (0, 0)
    said, header, *rows = command.run("groups", "describe", behind).lines
    assert said.startswith(
        f"{behind} is Empty (classic), no members: nobody reads; it is 2 records"
    )
    assert header.split()[:4] == ["TOPIC", "PART", "COMMITTED", "END"] and len(rows) == 2
    (looked,) = command.run("groups", "watch", behind, "-n", "1", "--json").lines
    assert f'"group": "{behind}"' in looked
    assert command.run("groups", "members", behind).lines == [
        f"{behind} has no members: nobody reads"
    ]


def test_reset_shows_what_it_does_and_undo_takes_it_back(command: Command, behind: str) -> None:
    def offsets() -> list[int]:
        found = command.run("groups", "describe", behind, "--json").json
        return [each["committed"] for each in found["partitions"]]

    preview = command.run("groups", "reset", behind, "--to", "-15m", "--dry-run", "--json").json
    assert preview["changed"] is False
    skips, stays = preview["partitions"]
    assert (skips["from"], skips["to"], skips["skipped"]) == (1, 2, 1)
    assert skips["seconds"] == 600
    # Records of now are later than fifteen minutes ago: partition 1 would be read again.
    assert (stays["to"], stays["read_again"]) == (0, 1)
    assert "add --yes" in command.fail("groups", "reset", behind, "--to", "end")
    assert offsets() == [1, 1]
    said = command.run("groups", "reset", behind, "--to", "beginning", "--yes").lines
    assert said[-2] == "in all: 2 records read again"
    assert offsets() == [0, 0]
    command.run("groups", "reset", behind, "--shift", "2", "-t", f"{behind}:0", "--yes")
    assert offsets() == [2, 0]
    command.run("groups", "undo", behind, "--yes")
    assert offsets() == [0, 0]
    said = command.run("groups", "undo", behind, "--yes").lines
    assert said[0].startswith("undoes `reset --to beginning` of ")
    assert offsets() == [1, 1]
    assert command.fail("groups", "undo", behind, "--yes").startswith("nothing to undo")


def test_markers_of_transactions_are_nobodys_delay(command: Command, topic: str) -> None:
    """What a reader of transactions has behind its last record for ever."""
    command.run("topics", "create", topic, "-p", "1")
    producer = Producer({"bootstrap.servers": command.servers, "transactional.id": topic})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"record", timestamp=int(time.time() * 1000) - 5 * MINUTE_MS)
    producer.commit_transaction(30)
    commit(command, topic, topic, 1)
    described = command.run("groups", "describe", topic, "--json").json
    assert (described["lag"], described["lag_seconds"]) == (1, 0.0)
    said = command.run("groups", "describe", topic).lines[0]
    assert said.endswith("nothing is left to read but markers of transactions")
    (row,) = command.run(
        "sql", f"SELECT lag, lag_seconds FROM PartitionLag WHERE topic='{topic}'"
    ).lines[1:]
    assert row.split() == ["1", "0.0"]
    commit(command, topic, topic, 0)
    assert command.run("groups", "describe", topic, "--json").json["lag_seconds"] > 200


@pytest.mark.parametrize("command", ["penstock"], indirect=True)
def test_a_preview_counts_records_that_there_are(command: Command, topic: str) -> None:
    """Of a topic that was made anew the offset is far behind its end."""
    command.run("topics", "create", topic, "-p", "1")
    write(command, topic, [3, 2, 1])
    commit(command, topic, topic, 1000)
    ask = ("groups", "reset", topic, "--dry-run", "--json", "--to")
    (step,) = command.run(*ask, "beginning").json["partitions"]
    assert (step["from"], step["to"], step["read_again"]) == (1000, 0, 3)
    (step,) = command.run(*ask, "end").json["partitions"]
    assert (step["from"], step["to"], step["read_again"]) == (1000, 3, 0)
    assert (
        "partition 0 stands behind the end"
        in command.try_run("groups", "check", topic).out.decode()
    )


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_members_are_safe_from_a_reset_unless_it_is_asked_for(
    command: Command, topic: str, protocol: str
) -> None:
    command.run("topics", "create", topic, "-p", "1")
    write(command, topic, [0] * 4)
    with member(command, topic, topic, protocol) as consumer:
        assert read(consumer, 4) == [0, 1, 2, 3]
        consumer.commit(asynchronous=False)
        (found,) = command.run("groups", "members", topic, "--json").json
        assert (found["partitions"], found["subscribed"]) == ([f"{topic}-0"], [topic])
        said = command.fail("groups", "reset", topic, "--to", "2", "--yes")
        assert said.startswith(f"group {topic} has 1 member,") and "--stop-members" in said
        assert "cannot be deleted" in command.fail("groups", "delete", topic, "--yes")
        command.run("groups", "reset", topic, "--to", "2", "--yes", "--stop-members")
        # It joins again by itself, and goes on from there.
        assert read(consumer, 2) == [2, 3]
    command.run("groups", "delete", topic, "--yes")
    assert "there is no group" in command.fail("groups", "describe", topic)


def test_a_group_is_seeded_and_checked_before_it_is_deployed(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "2")
    write(command, topic, [0] * 3)
    check = ("groups", "check", topic, topic)
    assert (
        command.run(*check, "--reset", "earliest")
        .lines[-1]
        .endswith("auto.offset.reset=earliest decides, and 3 records are read from the beginning")
    )
    refused = command.try_run(*check, "--reset", "none")
    assert refused.code == 1 and "the consumers fail" in refused.lines[-1]
    shown = command.run("groups", "seed", topic, topic, "--yes").lines
    assert shown[-2] == "in all: 2 partitions without an offset: 3 records left out, 0 to read"
    assert shown[1].endswith("had no offset  -")
    assert (
        command.run(*check)
        .lines[-1]
        .endswith("2 partitions will go on from committed offsets, 0 records and 0s behind")
    )
    idle = command.try_run(*check, "--members", "3")
    assert idle.code == 1
    assert idle.lines[-1].endswith("3 members for 2 partitions: 1 would have nothing to do")
    write(command, topic, [0])
    # What it has stays.
    assert command.run("groups", "seed", topic, topic, "--yes").lines[-1] == (
        "nothing is to be changed"
    )
    with member(command, topic, topic, "classic") as consumer:
        assert read(consumer, 1) == [3]
    command.run("groups", "undo", topic, "--yes")
    assert "have no offset" in command.run(*check).lines[-1]


def test_over_the_limit_comes_first(command: Command, topic: str) -> None:
    for name, minutes in ((f"{topic}.late", 180), (f"{topic}.soon", 1)):
        command.run("topics", "create", name, "-p", "1")
        write(command, name, [minutes * MINUTE_MS])
        commit(command, f"{name}-group", name, 0)

    def shown() -> list[tuple[str, float | None]]:
        rows = command.run("lag", "--json", "--rows", "1000").json
        ours = [each for each in rows if each["topic"].startswith(topic)]
        return [(each["topic"].rpartition(".")[2], each["over_seconds"]) for each in ours]

    assert shown() == [("late", None), ("soon", None)]
    assert command.run("sla", "set", f"{topic}.soon", "30s").lines == [
        f"topic {topic}.soon may be 30s behind"
    ]
    (first, over), (second, _) = shown()
    assert (first, second) == ("soon", "late") and over is not None and 30 <= over < 1800
    command.run("sla", "set", f"{topic}.late-group", "4h")
    assert {"kind": "group", "name": f"{topic}.late-group", "seconds": 14400} in command.run(
        "sla", "list", "--json"
    ).json
    assert shown()[1] == ("late", 0)
    # Both over: the stricter limit comes first, however far over the other is.
    command.run("sla", "set", f"{topic}.late-group", "1h")
    assert [each[0] for each in shown()] == ["soon", "late"]
    command.run("sla", "remove", f"{topic}.soon")
    assert [each[0] for each in shown()] == ["late", "soon"]
    command.run("sla", "remove", f"{topic}.late-group")
    assert "there is no limit" in command.fail("sla", "remove", f"{topic}.late-group")


def test_a_sentence_about_a_group_says_what_is_not_known() -> None:
    group = Group("g", "classic", "Stable", 1)
    for partitions, said in (
        ((), "it has no offsets"),
        ((PartitionLag(("t", 0), None, 0, 7),), "is not known of 1 partition"),
        ((PartitionLag(("t", 0), 7, 0, 7),), "nothing is left to read"),
        # No offset, and no record that it could be late with.
        ((PartitionLag(("t", 0), None, 7, 7),), "nothing is left to read"),
        (
            (
                PartitionLag(("t", 0), 5, 0, 7, unread_ms=0),
                PartitionLag(("t", 1), None, 0, 7),
                PartitionLag(("t", 2), None, 0, None),
            ),
            "the oldest of them 9s old (partition t-0); how far is not known of 2 partitions",
        ),
        (
            (PartitionLag(("t", 0), 5, 0, 7, unread_ms=0),),
            "the oldest of them 9s old (partition t-0)",
        ),
    ):
        assert summary(GroupLag(group, partitions, now_ms=9000)).endswith(said)


def test_what_no_leader_tells_is_not_nothing() -> None:
    group = Group("g", "classic", "Stable", 1)
    known, silent = PartitionLag(("t", 0), 5, 0, 7, 0), PartitionLag(("t", 1), 5, None, None)
    for partitions, cell, lag, unanswered in (
        ((known,), 2, 2, 0),
        ((known, silent), "2+", 2, 1),
        ((silent,), None, None, 1),
    ):
        (row,) = ranked([GroupLag(group, partitions, 9000)], {})
        assert rank_row(row)[5] == cell
        said = rank_document(row)
        assert (said["lag"], said["unanswered_partitions"]) == (lag, unanswered)
        said = lag_document(row.lag)
        assert (said["lag"], said["unanswered_partitions"]) == (lag, unanswered)


def test_what_makes_no_sense_is_refused_in_one_line(
    command: Command, nowhere: Command, topic: str
) -> None:
    assert "no broker answers" in nowhere.fail("groups", "list")
    assert "no broker answers" in nowhere.fail("lag")
    assert "no broker answers" in nowhere.fail("sla", "set", "x", "3s", "--topic")
    assert "`penstock groups list`" in command.fail("groups", "reset", topic, "--to", "end")
    assert "either --to or --shift" in command.fail("groups", "reset", topic, code=2)
    assert "there is no topic" in command.fail("groups", "seed", topic, topic)
    assert "no duration" in command.fail("sla", "set", topic, "soon", "--topic", code=2)
    assert "say --topic or --group" in command.fail("sla", "set", topic, "3s")
    assert "no offsets" in command.fail("groups", "check", topic)
    command.run("topics", "create", topic, "-p", "1")
    commit(command, topic, topic, 0)
    assert "say --topic or --group" in command.fail("sla", "set", topic, "3s", code=2)
    assert "there is no 7" in command.fail(
        "groups", "reset", topic, "--to", "end", "-t", f"{topic}:7"
    )
    assert "no place in a topic" in command.fail(
        "groups", "reset", topic, "--to", "yesterday", code=2
    )


def test_a_broker_that_is_too_old_is_named() -> None:
    """OffsetFetch 7 of Kafka 2.8 names one group, in another field."""
    ours, theirs = socket.socketpair()
    spoken = ApiVersion(api_key=9, min_version=0, max_version=7)
    body = encode(ApiVersionsResponse(api_keys=[spoken]), 0)
    answer = (1).to_bytes(4, "big") + body
    theirs.sendall(len(answer).to_bytes(4, "big") + answer)
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=None)])
    with (
        theirs,
        BrokerConnection(lambda *_: ours, "old", 9092) as connection,
        pytest.raises(Failure, match="old:9092 is too old for this: OffsetFetch version 7 cannot"),
    ):
        connection.call(request, OffsetFetchResponse)
