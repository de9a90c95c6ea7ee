"""Clients that work while nodes of a mixed cluster die, and what they must find at the end.

Each keeps its own account: what was acknowledged, committed, aborted. An outcome that nobody was
told of is in none of them.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.patience import wait_until

PATIENCE_S = 180.0
EXIT_S = 5.0
PAUSE_S = 0.02


def coordinator_of(name: str, partitions: int) -> int:
    """The partition of a group or a transactional id, as Kafka hashes them."""
    value = 0
    for character in name:
        value = (31 * value + ord(character)) & 0xFFFFFFFF
    signed = value - (1 << 32) if value >= 1 << 31 else value
    return abs(signed) % partitions


def one_for_each(prefix: str, partitions: int) -> list[str]:
    """A name for each partition of the coordinators' topic."""
    found: dict[int, str] = {}
    number = 0
    while len(found) < partitions:
        name = f"{prefix}-{number}"
        found.setdefault(coordinator_of(name, partitions), name)
        number += 1
    return [found[index] for index in sorted(found)]


class Worker:
    """Works in a thread of its own until it is ended; what goes wrong is raised there."""

    def __init__(self) -> None:
        self.rounds = 0
        self._ending = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Worker:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """After a failure nobody waits for what cannot end."""
        self._ending.set()
        self._thread.join(EXIT_S)

    def end(self) -> None:
        self._ending.set()
        self._thread.join(2 * PATIENCE_S)
        assert not self._thread.is_alive(), f"{self} does not end"
        self.check()

    def check(self) -> None:
        if self._failure is not None:
            raise AssertionError(f"{self} failed") from self._failure

    def _run(self) -> None:
        try:
            self.work()
        except BaseException as error:
            self._failure = error

    def work(self) -> None:
        raise NotImplementedError


class Writer(Worker):
    """Writes numbers to every partition, with acks=all, and never twice."""

    def __init__(self, servers: str, topic: str, partitions: int) -> None:
        super().__init__()
        self.acknowledged: dict[int, list[tuple[int, bytes]]] = defaultdict(list)
        self._errors: list[str] = []
        self._topic = topic
        self._partitions = partitions
        self._producer = Producer(
            {
                "bootstrap.servers": servers,
                "acks": "all",
                "enable.idempotence": True,
                # Of several on their way, a broker that learns in their midst that it leads takes
                # the later ones for out of order; librdkafka then begins a new epoch, and writes
                # again what may have been written.
                "max.in.flight": 1,
                "linger.ms": 5,
                "message.timeout.ms": int(PATIENCE_S * 1000),
                "retry.backoff.ms": 50,
                "topic.metadata.refresh.interval.ms": 5000,
            }
        )

    def __repr__(self) -> str:
        return "writer"

    @property
    def count(self) -> int:
        return sum(map(len, self.acknowledged.values()))

    def work(self) -> None:
        while not self._ending.wait(PAUSE_S):
            for partition in range(self._partitions):
                value = b"w%d-%d" % (partition, self.rounds)
                self._producer.produce(
                    self._topic, value, partition=partition, on_delivery=self._on_delivery
                )
            self.rounds += 1
            self._producer.poll(0)
        left = self._producer.flush(2 * PATIENCE_S)
        assert not left and not self._errors, (left, self._errors[:3])

    def _on_delivery(self, error: object, message: Message) -> None:
        if error is not None:
            self._errors.append(f"{message.partition()}: {error}")
            return
        partition, offset, value = message.partition(), message.offset(), message.value()
        assert partition is not None and isinstance(value, bytes)
        # Without an offset: of a second copy, whose first one the leader knows only to be there.
        self.acknowledged[partition].append((-1 if offset is None else offset, value))


def number_of(value: bytes) -> int:
    """Of what a writer has written."""
    return int(value.split(b"-")[1])


class Transactions(Worker):
    """One transactional id: a record to every partition each time, and every third is aborted."""

    def __init__(self, servers: str, name: str, topic: str, partitions: int) -> None:
        super().__init__()
        self.committed: set[bytes] = set()
        self.aborted: set[bytes] = set()
        self.unknown: set[bytes] = set()
        self._servers = servers
        self._name = name
        self._topic = topic
        self._partitions = partitions

    def __repr__(self) -> str:
        return f"transactions of {self._name}"

    def work(self) -> None:
        producer = self._new_producer()
        while not self._ending.wait(PAUSE_S):
            values = [
                b"%s-%d-%d" % (self._name.encode(), partition, self.rounds)
                for partition in range(self._partitions)
            ]
            wants_commit = self.rounds % 3 != 2
            self.rounds += 1
            try:
                producer.begin_transaction()
                for partition, value in enumerate(values):
                    producer.produce(self._topic, value, partition=partition)
                if not wants_commit:
                    producer.flush(PATIENCE_S)
                    producer.abort_transaction(PATIENCE_S)
                    self.aborted.update(values)
                    continue
                self._commit(producer)
                self.committed.update(values)
            except KafkaException as error:
                producer = self._after(producer, error, values)

    def _commit(self, producer: Producer) -> None:
        while True:
            try:
                producer.commit_transaction(PATIENCE_S)
                return
            except KafkaException as error:
                if not error.args[0].retriable():
                    raise

    def _after(self, producer: Producer, error: KafkaException, values: list[bytes]) -> Producer:
        """What was begun is ended; a producer that cannot go on is replaced by another."""
        if error.args[0].txn_requires_abort():
            try:
                producer.abort_transaction(PATIENCE_S)
                self.aborted.update(values)
                return producer
            except KafkaException:
                pass
        self.unknown.update(values)
        return self._new_producer()

    def _new_producer(self) -> Producer:
        producer = Producer(
            {
                "bootstrap.servers": self._servers,
                "transactional.id": self._name,
                "transaction.timeout.ms": 60_000,
                "retry.backoff.ms": 50,
            }
        )
        while True:
            try:
                producer.init_transactions(PATIENCE_S)
                return producer
            except KafkaException as error:
                if not error.args[0].retriable():
                    raise


class Group(Worker):
    """A group of one that reads everything and commits as it goes."""

    def __init__(self, servers: str, group_id: str, topic: str, protocol: str) -> None:
        super().__init__()
        self.seen: Counter[bytes] = Counter()
        self.group_id = group_id
        self._topic = topic
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": group_id,
                "group.protocol": protocol,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "retry.backoff.ms": 50,
            }
        )

    def __repr__(self) -> str:
        return f"group {self.group_id}"

    def work(self) -> None:
        self._consumer.subscribe([self._topic])
        while not self._ending.is_set():
            messages = self._consumer.consume(500, timeout=0.3)
            for message in messages:
                value = message.value()
                if message.error() is None and isinstance(value, bytes):
                    self.seen[value] += 1
            if messages:
                self._commit()
                self.rounds += 1
        self._commit()
        self._consumer.close()

    def _commit(self) -> None:
        try:
            self._consumer.commit(asynchronous=False)
        except KafkaException:
            pass  # the coordinator moves; what is committed next includes it

    def wait_seen(self, values: set[bytes]) -> None:
        def unseen() -> str:
            return f"{self}: {len(values - self.seen.keys())} records not seen"

        wait_until(lambda: values <= self.seen.keys(), unseen)


def read_all(servers: str, topic: str, partitions: int) -> dict[int, list[tuple[int, bytes]]]:
    """Every committed record, in the order of its partition."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "reader-of-all",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    found: dict[int, list[tuple[int, bytes]]] = {index: [] for index in range(partitions)}
    consumer.assign([TopicPartition(topic, index, 0) for index in range(partitions)])
    at_end: set[int] = set()
    while len(at_end) < partitions:
        message = consumer.poll(PATIENCE_S)
        assert message is not None, f"nothing more of {topic}; at the end of {at_end}"
        partition, offset, value = message.partition(), message.offset(), message.value()
        assert partition is not None and offset is not None
        if message.error() is not None:
            at_end.add(partition)
        else:
            assert isinstance(value, bytes)
            found[partition].append((offset, value))
    consumer.close()
    return found


def leaders(admin: AdminClient, topics: Iterable[str]) -> dict[tuple[str, int], int]:
    listed = admin.list_topics(timeout=PATIENCE_S).topics
    return {
        (name, index): partition.leader
        for name in topics
        if name in listed
        for index, partition in listed[name].partitions.items()
    }
