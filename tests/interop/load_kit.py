"""Writes a bit of everything into a cluster: codecs, producers, transactions, groups, settings."""

from __future__ import annotations

import logging
import random
import time
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
)

from penstock.protocol.messages.init_producer_id import InitProducerIdRequest
from penstock.records.builder import build_batch
from penstock.records.record import Record
from tests.node.wire_kit import PRODUCE_VERSION, Wire, produce, produced

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
GROUP = "readers"
RETRIED = "retried"
_log = logging.getLogger("penstock.testing")
_TIMEOUT_S = 30.0

TOPICS: dict[str, tuple[int, dict[str, str]]] = {
    "codecs": (3, {"retention.ms": "-1"}),
    "segments": (1, {"segment.bytes": "1048576", "max.message.bytes": "200000"}),
    "appended": (1, {"message.timestamp.type": "LogAppendTime"}),
    "keyed": (
        1,
        {
            "cleanup.policy": "compact",
            "segment.ms": "100",
            "min.cleanable.dirty.ratio": "0.01",
            "delete.retention.ms": "100",
        },
    ),
    "trimmed": (1, {}),
    "gone": (2, {}),
    "again": (1, {}),
    "zstd-at-rest": (1, {"compression.type": "zstd"}),
    RETRIED: (1, {}),
}


def write_everything(servers: str, *, transactions: bool = True) -> None:
    admin = AdminClient({"bootstrap.servers": servers}, logger=_log)
    _create(admin, TOPICS)
    for codec in CODECS:
        _produce(servers, "codecs", 40, {"compression.type": codec, "enable.idempotence": True})
    noise = random.Random(7)
    _produce(servers, "segments", 30, {"linger.ms": 0}, lambda _: noise.randbytes(100_000))
    _produce(servers, "appended", 5, {})
    _produce(servers, "zstd-at-rest", 50, {"compression.type": "lz4"})
    _produce(servers, "trimmed", 10, {})
    _produce(servers, "again", 7, {})
    _produce(servers, "gone", 3, {})
    _write_keyed(servers)
    _change(admin)
    _commit(servers)
    if transactions:
        _transact(servers)


def _create(admin: AdminClient, topics: dict[str, tuple[int, dict[str, str]]]) -> None:
    new = [
        NewTopic(name, num_partitions=count, replication_factor=1, config=config)
        for name, (count, config) in topics.items()
    ]
    for future in admin.create_topics(new).values():
        future.result(_TIMEOUT_S)


def _produce(
    servers: str,
    topic: str,
    count: int,
    settings: dict[str, Any],
    value: Any = lambda number: b"value %d " % number * 5,
) -> None:
    producer = Producer({"bootstrap.servers": servers, "acks": "all"} | settings, logger=_log)
    for number in range(count):
        producer.produce(
            topic,
            key=None if number % 3 else b"key %d" % number,
            value=None if number % 7 == 6 and topic == "codecs" else value(number),
            headers=[("h", b"%d" % number), ("none", None)] if number % 2 else None,
            timestamp=1_790_000_000_000 + number if topic != "appended" else 0,
        )
        producer.poll(0)
    assert producer.flush(_TIMEOUT_S) == 0


def _write_keyed(servers: str) -> None:
    producer = Producer({"bootstrap.servers": servers, "acks": "all"}, logger=_log)
    for turn in range(6):
        for key in range(10):
            value = None if key == 3 and turn == 4 else b"turn %d" % turn
            producer.produce("keyed", key=b"%d" % key, value=value)
        assert producer.flush(_TIMEOUT_S) == 0
        time.sleep(0.12)


def _change(admin: AdminClient) -> None:
    """Settings, partitions and records that came and went."""
    for future in admin.delete_records([TopicPartition("trimmed", 0, 4)]).values():
        future.result(_TIMEOUT_S)
    for future in admin.create_partitions([NewPartitions("trimmed", 2)]).values():
        future.result(_TIMEOUT_S)
    for future in admin.delete_topics(["gone", "again"]).values():
        future.result(_TIMEOUT_S)
    _create_again(admin, "again")
    entry = ConfigEntry("retention.ms", "86400001", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource("topic", "again", incremental_configs=[entry])
    for future in admin.incremental_alter_configs([resource]).values():
        future.result(_TIMEOUT_S)


def _create_again(admin: AdminClient, name: str) -> None:
    deadline = time.monotonic() + _TIMEOUT_S
    while True:
        try:
            _create(admin, {name: (2, {})})
            return
        except KafkaException:
            # Deleting takes a moment.
            assert time.monotonic() < deadline
            time.sleep(0.1)


def _commit(servers: str) -> None:
    settings = {"bootstrap.servers": servers, "group.id": GROUP, "enable.auto.commit": False}
    consumer = Consumer(settings, logger=_log)
    positions = [
        TopicPartition("codecs", 0, 11, metadata="eleven"),
        TopicPartition("codecs", 1, 2),
        TopicPartition("appended", 0, 5),
    ]
    deadline = time.monotonic() + _TIMEOUT_S
    while True:
        try:
            consumer.commit(offsets=positions, asynchronous=False)
            break
        except KafkaException:
            assert time.monotonic() < deadline
            time.sleep(0.2)
    consumer.close()


def _transact(servers: str) -> None:
    """Committed, aborted, committed, and one that is still open."""
    admin = AdminClient({"bootstrap.servers": servers}, logger=_log)
    _create(admin, {"txns": (1, {}), "open-txn": (1, {})})
    settings = {"bootstrap.servers": servers, "transactional.id": "story", "linger.ms": 0}
    producer = Producer(settings, logger=_log)
    producer.init_transactions(_TIMEOUT_S)
    for number, commits in enumerate((True, False, True, False)):
        producer.begin_transaction()
        for each in range(3):
            producer.produce("txns", value=b"txn %d.%d" % (number, each))
        producer.flush(_TIMEOUT_S)
        producer.commit_transaction(_TIMEOUT_S) if commits else producer.abort_transaction(
            _TIMEOUT_S
        )


def open_transaction(servers: str) -> Producer:
    """Leaves a transaction open for as long as the producer is kept."""
    settings = {
        "bootstrap.servers": servers,
        "transactional.id": "open",
        "transaction.timeout.ms": 600_000,
    }
    producer = Producer(settings, logger=_log)
    producer.init_transactions(_TIMEOUT_S)
    producer.begin_transaction()
    producer.produce("open-txn", value=b"pending")
    producer.flush(_TIMEOUT_S)
    plain = Producer({"bootstrap.servers": servers, "acks": "all"}, logger=_log)
    plain.produce("open-txn", value=b"behind it")
    plain.flush(_TIMEOUT_S)
    return producer


def end_open_transaction(servers: str) -> None:
    """A producer that comes back under the same id aborts what it left open."""
    settings = {"bootstrap.servers": servers, "transactional.id": "open"}
    Producer(settings, logger=_log).init_transactions(_TIMEOUT_S)


class RetryingProducer:
    """An idempotent producer made by hand, which may send its last batch again."""

    def __init__(self) -> None:
        self.producer_id = -1
        self.sequence = 0
        self.base_offset = -1
        self.began_ms = time.time_ns() // 1_000_000

    def begin(self, servers: str) -> None:
        with Wire(servers, 30) as wire:
            answer = wire.call(InitProducerIdRequest(transactional_id=None), 4)
            assert answer.error_code == 0
            self.producer_id = answer.producer_id

    def _batch(self, sequence: int) -> bytearray:
        # A producer that was silent for a day is forgotten, and records tell the time.
        record = Record(0, self.began_ms, None, b"sequence %d" % sequence, [])
        return build_batch(
            [record], producer_id=self.producer_id, producer_epoch=0, base_sequence=sequence
        )

    def send(self, servers: str) -> None:
        with Wire(servers, 30) as wire:
            answer = produced(
                wire.call(produce(RETRIED, self._batch(self.sequence)), PRODUCE_VERSION)
            )
        assert answer.error_code == 0, answer
        assert answer.base_offset > self.base_offset
        self.base_offset = answer.base_offset
        self.sequence += 1

    def check_retry(self, servers: str) -> None:
        """The same batch again is answered with the same offset, one out of order is refused."""
        with Wire(servers, 30) as wire:
            again = produce(RETRIED, self._batch(self.sequence - 1))
            answer = produced(wire.call(again, PRODUCE_VERSION))
            assert (answer.error_code, answer.base_offset) == (0, self.base_offset)
            skipping = produce(RETRIED, self._batch(self.sequence + 5))
            assert produced(wire.call(skipping, PRODUCE_VERSION)).error_code == 45
