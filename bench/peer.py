"""The systems that are compared: Apache Kafka, and Penstock with and without fsync before ack, and
without a look into batches.

The Penstock peers share one node and differ in their topics' settings only.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)
from confluent_kafka.cimpl import NewTopic

from bench.process import cpu_seconds
from tools.apache_kafka import ApacheKafka
from tools.penstock_broker import Penstock

KAFKA = "kafka"
PENSTOCK = "penstock"
PENSTOCK_FSYNC = "penstock-fsync"
PENSTOCK_UNREAD = "penstock-unread"
"""Its leaders do not read the records of a batch."""

# Kafka's own default: the operating system flushes when it likes.
FLUSH_OFF = {"flush.messages": "9223372036854775807"}

INTERNAL_TOPICS = ("__consumer_offsets", "__transaction_state")
# The first members of a group are not kept waiting for others that may come.
BROKER_SETTINGS = {"group.initial.rebalance.delay.ms": "0"}

_serial = itertools.count()


class Broker(Protocol):
    data_dir: Path
    port: int

    @property
    def bootstrap_servers(self) -> str: ...
    @property
    def pid(self) -> int: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def kill(self) -> None: ...


@dataclass(frozen=True)
class Peer:
    name: str
    broker: Broker
    topic_settings: Mapping[str, str] = field(default_factory=dict)
    replicas: int = 1

    @property
    def pids(self) -> Sequence[int]:
        """The processes that make up the system."""
        return [self.broker.pid]

    def cpu_seconds(self) -> float:
        return sum(cpu_seconds(pid) for pid in self.pids)

    def create_topic(self, partitions: int, label: str = "bench") -> str:
        name = f"{label}-{next(_serial)}"
        topic = NewTopic(
            name,
            num_partitions=partitions,
            replication_factor=self.replicas,
            config=dict(self.topic_settings),
        )
        admin = self._admin()
        admin.create_topics([topic], request_timeout=120)[name].result(timeout=180)
        self._await_leaders(admin, name, partitions)
        return name

    @contextmanager
    def topic(self, partitions: int) -> Iterator[str]:
        name = self.create_topic(partitions)
        try:
            yield name
        finally:
            admin = self._admin()
            admin.delete_topics([name])[name].result(timeout=60)

    def end_offsets(self, topic: str, partitions: int) -> int:
        """How many records the topic holds, by its high watermarks."""
        client = Consumer(
            {"bootstrap.servers": self.broker.bootstrap_servers, "group.id": "x", "log_level": 3}
        )
        try:
            wanted = [TopicPartition(topic, partition) for partition in range(partitions)]
            return sum(client.get_watermark_offsets(one, timeout=30)[1] for one in wanted)
        finally:
            client.close()

    def set_internal_flush(self) -> None:
        """The topics of the coordinators are flushed like those of this peer."""
        if self.name == KAFKA:
            return
        self._make_internal_topics()
        key, value = "flush.messages", self.topic_settings.get("flush.messages")
        operation = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
        entries = [ConfigEntry(key, value or "", incremental_operation=operation)]
        resources = [
            ConfigResource(ResourceType.TOPIC, name, incremental_configs=entries)
            for name in INTERNAL_TOPICS
        ]
        # Without a name of its own it would end before it has its answer.
        admin = self._admin()
        for done in admin.incremental_alter_configs(resources).values():
            done.result(timeout=60)

    def _make_internal_topics(self) -> None:
        """By their first use, as for everybody."""
        settings = {"bootstrap.servers": self.broker.bootstrap_servers, "log_level": 3}
        consumer = Consumer(settings | {"group.id": "bench-first"})
        for attempt in range(10):
            try:
                consumer.committed([TopicPartition("bench-first", 0)], timeout=60)
                break
            except KafkaException:
                # The topic is still being made.
                if attempt == 9:
                    raise
                time.sleep(0.1)
        consumer.close()
        producer = Producer(settings | {"transactional.id": "bench-first"})
        producer.init_transactions(60)

    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.broker.bootstrap_servers, "log_level": 3})

    def _await_leaders(self, admin: AdminClient, name: str, partitions: int) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = admin.list_topics(name, timeout=60).topics[name]
            leaders = [one.leader for one in found.partitions.values() if one.leader >= 0]
            if len(leaders) == partitions:
                return
            time.sleep(0.05)
        raise TimeoutError(f"{name} has no leaders")


def new_broker(name: str, data_dir: Path) -> Broker:
    if name == KAFKA:
        broker = ApacheKafka(data_dir, BROKER_SETTINGS)
        # Before the clock runs: other brokers need no such step.
        broker.format()
        return broker
    return Penstock(data_dir, BROKER_SETTINGS)


def topic_settings(name: str) -> Mapping[str, str]:
    if name == PENSTOCK_UNREAD:
        return FLUSH_OFF | {"penstock.record.check": "never"}
    return FLUSH_OFF if name == PENSTOCK else {}


def timed_start(broker: Broker) -> float:
    """Seconds from the start of the process to its first answer to a request."""
    began = time.monotonic()
    # It asks again and again, and returns with the first answer.
    broker.start()
    return time.monotonic() - began
