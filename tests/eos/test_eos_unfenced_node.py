"""A node that does not fence is found: one zombie's script, on a node that fences and one not.

The zombie reads ten records and writes their copies in a transaction, loses its place in the group
before it commits, and commits after its successor has copied the same records.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.model.id import TopicPartition as Place
from penstock.testing.history import End, Event, Fault, Outcome, Poll, Produce, Seen, check
from tools.exactly_once.setup import BROKER_SETTINGS
from tools.penstock_broker import Penstock

UNFENCED_NODE = [sys.executable, str(Path(__file__).with_name("unfenced_node.py"))]
RECORDS = 10
COPIES = Place("copies", 0)


class Copier:
    """Reads `source` in the group, writes `copies` in transactions, and tells what it did."""

    def __init__(self, servers: str, name: str) -> None:
        self.name = name
        self.history: list[Event] = []
        common = {"bootstrap.servers": servers}
        group = {"group.id": "copiers", "auto.offset.reset": "earliest"}
        reading = {"enable.auto.commit": False, "isolation.level": "read_committed"}
        self.consumer = Consumer({**common, **group, **reading})
        self.producer = Producer({**common, "transactional.id": name})
        self.producer.init_transactions(30)
        self.consumer.subscribe(["source"])

    def copy(self) -> None:
        """Read everything and write it again; nothing is committed yet."""
        self.records = read(self.consumer, RECORDS)
        self.producer.begin_transaction()
        for record in self.records:
            self.producer.produce("copies", record.value(), on_delivery=self._written)
        self.producer.flush(30)
        self.membership = self.consumer.consumer_group_metadata()

    def commit(self) -> bool:
        """End the transaction with the group's offsets in it, as the member that read."""
        end = self.records[-1].offset() + 1
        try:
            self.producer.send_offsets_to_transaction(
                [TopicPartition("source", 0, end)], self.membership, 30
            )
            self.producer.commit_transaction(30)
        except KafkaException:
            self.producer.abort_transaction(30)
            self._ended(commit=False)
            return False
        self._ended(commit=True)
        return True

    def _written(self, error: object, record: Message) -> None:
        assert error is None
        self.history.append(
            Produce(
                process=self.name,
                partition=COPIES,
                value=record.value().decode(),
                outcome=Outcome.OK,
                offset=record.offset(),
                transaction=self.name,
            )
        )

    def _ended(self, *, commit: bool) -> None:
        self.history.append(
            End(process=self.name, transaction=self.name, commit=commit, outcome=Outcome.OK)
        )


def read(consumer: Consumer, count: int) -> list[Message]:
    records: list[Message] = []
    while len(records) < count:
        found = consumer.poll(30)
        assert found is not None, f"only {len(records)} of {count} records came"
        assert found.error() is None
        records.append(found)
    return records


def everything_copied(servers: str) -> Poll:
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "judge",
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition("copies", 0, 0)])
    seen: list[Seen] = []
    while (found := consumer.poll(30)) is not None and found.error() is None:
        seen.append(Seen(found.offset(), found.value().decode()))
    consumer.close()
    return Poll(process="judge", partition=COPIES, records=tuple(seen), at_end=True)


def zombie_history(servers: str) -> tuple[bool, list[Event]]:
    """Whether the zombie's late commit was let through, and what everybody did and saw."""
    admin = AdminClient({"bootstrap.servers": servers})
    for future in admin.create_topics([NewTopic("source", 1), NewTopic("copies", 1)]).values():
        future.result(30)
    source = Producer({"bootstrap.servers": servers})
    for number in range(RECORDS):
        source.produce("source", f"record {number}")
    source.flush(30)
    zombie = Copier(servers, "zombie")
    zombie.copy()
    zombie.consumer.close()
    successor = Copier(servers, "successor")
    successor.copy()
    assert successor.commit()
    passed = zombie.commit()
    successor.consumer.close()
    return passed, [*zombie.history, *successor.history, everything_copied(servers)]


@pytest.fixture(params=["fencing", "not fencing"])
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Penstock, bool]]:
    fences = request.param == "fencing"
    broker = Penstock(tmp_path / "data", BROKER_SETTINGS, command=None if fences else UNFENCED_NODE)
    broker.start()
    try:
        yield broker, fences
    finally:
        broker.stop()


def test_the_checker_finds_a_node_that_does_not_fence(node: tuple[Penstock, bool]) -> None:
    broker, fences = node
    passed, history = zombie_history(broker.bootstrap_servers)
    found = {violation.fault for violation in check(history)}
    assert passed is not fences
    assert found == (set() if fences else {Fault.DUPLICATE})
