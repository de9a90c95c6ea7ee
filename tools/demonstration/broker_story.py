"""The broker on its own: filled, shared by a group, killed and restarted.

Everything goes through confluent-kafka, the client most Python programs already use.
"""

from __future__ import annotations

import json
import signal
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tools.demonstration.process import Broker
from tools.demonstration.telling import ClaimError, chapter, check, say, size

TOPIC, PARTITIONS = "orders", 3
BULK, SINGLE, CRASH = 100_000, 200, 20_000
CITIES = ("Lisbon", "Nairobi", "Osaka", "Quito", "Tromsø")
QUIET: dict[str, Any] = {"log_level": 0, "error_cb": lambda _: None}


def tell_of_the_broker(broker: Broker) -> None:
    tally = Tally()
    start(broker)
    create(broker)
    fill(broker, tally)
    share(broker)
    crash(broker, tally)


def start(broker: Broker) -> None:
    chapter("1  Start a broker")
    say("$ penstock start")
    took = broker.start()
    say(f"ready in {took * 1000:.0f} ms at {broker.address}", f"process {broker.pid}")
    say(f"it uses {size(broker.memory_bytes())} of memory")


def create(broker: Broker) -> None:
    admin = AdminClient({"bootstrap.servers": broker.address} | QUIET)
    began = time.perf_counter()
    admin.create_topics([NewTopic(TOPIC, PARTITIONS)])[TOPIC].result(10)
    took = time.perf_counter() - began
    say(f"{TOPIC}, {PARTITIONS} partitions", f"{took * 1000:.0f} ms")


def fill(broker: Broker, tally: Tally) -> None:
    chapter("2  Produce")
    settings = {"bootstrap.servers": broker.address, "acks": "all", "linger.ms": 5} | QUIET
    producer = Producer(settings | {"queue.buffering.max.messages": BULK})
    orders = [order(number) for number in range(BULK)]
    began = time.perf_counter()
    for number, (key, value) in enumerate(orders):
        producer.produce(TOPIC, key=key, value=value, on_delivery=tally)
        if number % 1000 == 0:
            producer.poll(0)
    producer.flush(30)
    took = time.perf_counter() - began
    sent = sum(map(len, tally.acknowledged.values()))
    say(f"{BULK:,} orders in {took:.2f} s", f"{BULK / took:,.0f} records/s, {size(sent / took)}/s")
    say("acknowledged by the broker only after they were synced to disk (acks=all)")
    one_by_one(broker, tally)


def one_by_one(broker: Broker, tally: Tally) -> None:
    producer = Producer({"bootstrap.servers": broker.address, "linger.ms": 0} | QUIET)
    producer.list_topics(TOPIC, timeout=10)
    times_ms = []
    for number in range(BULK, BULK + SINGLE):
        began = time.perf_counter()
        produce(producer, number, tally)
        producer.flush(10)
        times_ms.append((time.perf_counter() - began) * 1000)
    cuts = statistics.quantiles(times_ms, n=100)
    detail = f"median {cuts[49]:.2f} ms, 99th percentile {cuts[98]:.2f} ms"
    say(f"{SINGLE} more, each waited for before the next is sent", detail)


class Member:
    """One consumer of a group, and the longest it ever stood still since `watch`."""

    def __init__(self, name: str, address: str) -> None:
        self.name = name
        self.owned: set[int] = set()
        self.read = 0
        self.pause_s = 0.0
        self._last = 0.0
        settings: dict[str, Any] = {"bootstrap.servers": address, "group.id": "shop"}
        settings |= {"client.id": name, "partition.assignment.strategy": "cooperative-sticky"}
        settings |= {"auto.offset.reset": "earliest", "session.timeout.ms": 6000} | QUIET
        self.consumer = Consumer(settings)
        self.consumer.subscribe([TOPIC], on_assign=self._gain, on_revoke=self._lose)

    def _gain(self, consumer: Any, partitions: list[TopicPartition]) -> None:
        consumer.incremental_assign(partitions)
        self.owned |= {each.partition for each in partitions}

    def _lose(self, consumer: Any, partitions: list[TopicPartition]) -> None:
        consumer.incremental_unassign(partitions)
        self.owned -= {each.partition for each in partitions}

    def watch(self) -> None:
        self.read, self.pause_s, self._last = 0, 0.0, time.perf_counter()

    def poll(self) -> None:
        message = self.consumer.poll(0.005)
        if message is not None and message.error() is None:
            now = time.perf_counter()
            self.pause_s, self._last = max(self.pause_s, now - self._last), now
            self.read += 1

    def shown(self) -> str:
        return f"{self.name} reads {', '.join(map(str, sorted(self.owned))) or 'nothing'}"


def share(broker: Broker) -> None:
    chapter("3  Share the work")
    first = Member("one", broker.address)
    members = [first]
    poll_until(members, lambda: len(first.owned) == PARTITIONS and first.read > 0)
    say(f"a group with one consumer: {first.shown()}")
    second = Member("two", broker.address)
    members.append(second)
    first.watch()
    poll_until(members, lambda: bool(second.owned) and second.read > 0)
    say(f"another joins: {first.shown()}; {second.shown()}")
    detail = f"{first.read:,} records meanwhile, never still for more than "
    say("the first went on reading through it", detail + f"{first.pause_s * 1000:.0f} ms")
    second.consumer.close()
    members.remove(second)
    poll_until(members, lambda: len(first.owned) == PARTITIONS)
    say(f"it leaves again: {first.shown()}")
    first.consumer.close()


def poll_until(members: list[Member], reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not reached():
        if time.monotonic() > deadline:
            raise ClaimError("the group did not settle within 30 s")
        for member in members:
            member.poll()


def crash(broker: Broker, tally: Tally) -> None:
    chapter("4  Pull the plug")
    settings = {"bootstrap.servers": broker.address, "enable.idempotence": True, "linger.ms": 1}
    producer = Producer(settings | QUIET)
    before, first = len(tally.acknowledged), BULK + SINGLE
    for number in range(first, first + CRASH // 2):
        produce(producer, number, tally)
    while len(tally.acknowledged) - before < CRASH // 20:
        producer.poll(0.01)
    broker.stop(signal.SIGKILL)
    say(f"kill -9 while producing, {len(tally.acknowledged) - before:,} of {CRASH:,} acknowledged")
    took = broker.start()
    say(f"started again in {took * 1000:.0f} ms, logs recovered; the producer just goes on")
    for number in range(first + CRASH // 2, first + CRASH):
        produce(producer, number, tally)
    producer.flush(30)
    found = read_all(broker.address)
    check(tally.failed == 0, f"all {CRASH:,} were acknowledged in the end")
    check(tally.acknowledged.items() <= found.items(), "every acknowledged record is still there")
    check(len(found) == first + CRASH, f"none is there twice: {len(found):,} records")


class Tally:
    """Acknowledged records, by partition and offset."""

    def __init__(self) -> None:
        self.acknowledged: dict[tuple[int, int], bytes] = {}
        self.failed = 0

    def __call__(self, error: Any, message: Any) -> None:
        if error is not None:
            self.failed += 1
        else:
            self.acknowledged[message.partition(), message.offset()] = message.value()


def order(number: int) -> tuple[str, bytes]:
    city = CITIES[number % len(CITIES)]
    value = {"order": number, "city": city, "total": round(number * 7.31 % 500, 2), "paid": True}
    return f"customer-{number % 1000}", json.dumps(value).encode()


def produce(producer: Any, number: int, report: Any = None) -> None:
    key, value = order(number)
    while True:
        try:
            producer.produce(TOPIC, key=key, value=value, on_delivery=report)
            break
        except BufferError:
            producer.poll(0.05)
    producer.poll(0)


@contextmanager
def reader(address: str) -> Iterator[Any]:
    settings = {"bootstrap.servers": address, "group.id": "demo", "enable.partition.eof": True}
    settings |= {"enable.auto.commit": False, "auto.offset.reset": "earliest"} | QUIET
    consumer = Consumer(settings)
    try:
        yield consumer
    finally:
        consumer.close()


def read_all(
    address: str, topic: str = TOPIC, partitions: int = PARTITIONS
) -> dict[tuple[int, int], bytes]:
    """By partition and offset."""
    found: dict[tuple[int, int], bytes] = {}
    with reader(address) as consumer:
        consumer.assign([TopicPartition(topic, each, 0) for each in range(partitions)])
        at_end: set[int] = set()
        while len(at_end) < partitions:
            for message in consumer.consume(10_000, 0.2):
                if message.error() is None:
                    found[message.partition(), message.offset()] = message.value()
                elif message.error().code() == KafkaError._PARTITION_EOF:
                    at_end.add(message.partition())
    return found
