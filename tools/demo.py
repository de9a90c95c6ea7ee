"""`make demo`: a broker started, filled, read, killed and restarted, told as a short story.

Everything goes through confluent-kafka, the client most Python programs already use. Numbers are
measured while you watch, on your machine.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

CHECKOUT = Path(__file__).resolve().parent.parent
HOME = CHECKOUT / ".cache" / "demo"
TOPIC, PARTITIONS = "orders", 3
BULK, SINGLE, CRASH = 200_000, 300, 20_000
CITIES = ("Lisbon", "Nairobi", "Osaka", "Quito", "Tromsø")
QUIET: dict[str, Any] = {"log_level": 0, "error_cb": lambda _: None}

# --- telling ----------------------------------------------------------------------------------

_on_terminal = sys.stdout.isatty() and "NO_COLOR" not in os.environ


def style(code: str, text: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if _on_terminal else text


def chapter(title: str) -> None:
    print(f"\n{style('1;36', title)}", flush=True)


def say(text: str, detail: str = "") -> None:
    print(f"  {text}{'  ' + style('2', detail) if detail else ''}", flush=True)


def size(count: float) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"


# --- the broker -------------------------------------------------------------------------------


class Broker:
    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.address = "127.0.0.1:0"
        self.log = data_dir.with_name("broker.log")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> float:
        """Seconds from nothing to ready; the address stays the same from the first start on."""
        reading, writing = os.pipe()
        command = [sys.executable, "-m", "penstock", "start", "--listen", self.address]
        command += ["--data-dir", str(self.data_dir), "--ready-fd", str(writing)]
        # Kafka lets a new group wait three seconds for more members; a demo has them at hand.
        command += ["--set", "group.initial.rebalance.delay.ms=0"]
        began = time.perf_counter()
        with open(self.log, "ab") as log:
            self._process = subprocess.Popen(
                command,
                pass_fds=[writing],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        os.close(writing)
        with open(reading) as pipe:
            line = pipe.readline()
        if not line:
            sys.exit(f"The broker did not start:\n{self.log.read_text()[-2000:]}")
        self.address = json.loads(line)["listen"]
        return time.perf_counter() - began

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(number)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def memory_bytes(self) -> int:
        command = ["ps", "-o", "rss=", "-p", str(self.pid)]
        return int(subprocess.run(command, capture_output=True, check=True).stdout) * 1024


# --- what a client does -----------------------------------------------------------------------


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


def read_all(address: str) -> dict[tuple[int, int], bytes]:
    found: dict[tuple[int, int], bytes] = {}
    with reader(address) as consumer:
        consumer.assign([TopicPartition(TOPIC, each, 0) for each in range(PARTITIONS)])
        at_end: set[int] = set()
        while len(at_end) < PARTITIONS:
            for message in consumer.consume(10_000, 0.2):
                if message.error() is None:
                    found[message.partition(), message.offset()] = message.value()
                elif message.error().code() == KafkaError._PARTITION_EOF:
                    at_end.add(message.partition())
    return found


# --- the story --------------------------------------------------------------------------------


def start(broker: Broker) -> None:
    chapter("1  Start a broker")
    say("$ penstock start --listen 127.0.0.1:0 --data-dir .cache/demo/data")
    took = broker.start()
    say(f"ready in {took * 1000:.0f} ms at {broker.address}", f"process {broker.pid}")
    say(f"it uses {size(broker.memory_bytes())} of memory")


def create(broker: Broker) -> None:
    chapter("2  Create a topic")
    admin = AdminClient({"bootstrap.servers": broker.address} | QUIET)
    began = time.perf_counter()
    admin.create_topics([NewTopic(TOPIC, PARTITIONS)])[TOPIC].result(10)
    took = time.perf_counter() - began
    say(f"{TOPIC}, {PARTITIONS} partitions", f"{took * 1000:.0f} ms")


def fill(broker: Broker, tally: Tally) -> int:
    """The wall clock in milliseconds just before the last records were sent."""
    chapter("3  Produce")
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
    return one_by_one(broker, tally)


def one_by_one(broker: Broker, tally: Tally) -> int:
    producer = Producer({"bootstrap.servers": broker.address, "linger.ms": 0} | QUIET)
    producer.list_topics(TOPIC, timeout=10)
    moment_ms = time.time_ns() // 1_000_000
    times_ms = []
    for number in range(BULK, BULK + SINGLE):
        began = time.perf_counter()
        produce(producer, number, tally)
        producer.flush(10)
        times_ms.append((time.perf_counter() - began) * 1000)
    cuts = statistics.quantiles(times_ms, n=100)
    detail = f"median {cuts[49]:.2f} ms, 99th percentile {cuts[98]:.2f} ms"
    say(f"{SINGLE} more, each waited for before the next is sent", detail)
    return moment_ms


def read(broker: Broker, moment_ms: int, tally: Tally) -> None:
    chapter("4  Consume")
    began = time.perf_counter()
    found = read_all(broker.address)
    took = time.perf_counter() - began
    say(f"all {len(found):,} records from the beginning", f"{len(found) / took:,.0f} records/s")
    check(found == tally.acknowledged, "what was read is exactly what was acknowledged")
    with reader(broker.address) as consumer:
        show(consumer, "by offset", TopicPartition(TOPIC, 0, 1000))
        (by_time,) = consumer.offsets_for_times([TopicPartition(TOPIC, 1, moment_ms)], timeout=10)
        show(consumer, "by time, the first after the bulk", by_time)


def show(consumer: Any, how: str, place: TopicPartition) -> None:
    consumer.assign([place])
    message = consumer.poll(10)
    if message is None or message.error() is not None:
        sys.exit(f"nothing could be read at {place}")
    where = f"{message.topic()}-{message.partition()} @ {message.offset()}"
    say(f"{how}: {where}", message.value().decode())


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
    chapter("5  Share the work")
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
            sys.exit("the group did not settle within 30 s")
        for member in members:
            member.poll()


def disk(broker: Broker) -> None:
    chapter("6  Where it all is")
    say(str(broker.data_dir))
    for folder in sorted(broker.data_dir.glob(f"{TOPIC}-*")):
        files = sorted(folder.iterdir(), key=lambda each: -each.stat().st_size)
        shown = ", ".join(f"{each.name} {size(each.stat().st_size)}" for each in files[:3])
        say(f"{folder.name}/", shown)
    say("Kafka's own file formats: its tools read them, and it opens the directory")
    say(f"the broker now uses {size(broker.memory_bytes())} of memory")


def crash(broker: Broker, tally: Tally) -> None:
    chapter("7  Pull the plug")
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


def check(holds: bool, claim: str) -> None:
    say(f"{style('32', 'yes')}: {claim}" if holds else f"{style('31', 'NO')}: {claim}")
    if not holds:
        sys.exit(1)


def farewell() -> None:
    chapter("Try it yourself")
    for command in (
        "penstock start --data-dir .cache/demo/data",
        f"penstock consume {TOPIC} --from -3 --keys --meta",
        f'penstock produce {TOPIC} --key me --value \'{{"order": "mine"}}\'',
        "penstock topics describe orders",
    ):
        say(f".venv/bin/{command}")
    say("Any Kafka client works: point its bootstrap.servers at 127.0.0.1:9092.")


def main() -> int:
    began = time.perf_counter()
    shutil.rmtree(HOME, ignore_errors=True)
    HOME.mkdir(parents=True)
    broker, tally = Broker(HOME / "data"), Tally()
    try:
        start(broker)
        create(broker)
        moment_ms = fill(broker, tally)
        read(broker, moment_ms, tally)
        share(broker)
        disk(broker)
        crash(broker, tally)
    finally:
        broker.stop()
    print(f"\n  {style('2', f'stopped cleanly; {time.perf_counter() - began:.1f} s in all')}")
    farewell()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
