"""Absurd values in every setting that takes a number, changed under a node at work.

The node may refuse a value, or refuse what clients then ask for; it must neither end nor stall, and
it must follow the next change.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from penstock.metadata.config import ResourceType
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from penstock.records.builder import build_batch
from penstock.records.header import iter_batches
from penstock.records.record import Record, iter_records
from penstock.settings.broker import BROKER_KEYS, DYNAMIC_ONLY_KEYS
from penstock.settings.group import GROUP_KEYS
from penstock.settings.key import DOUBLE, INT, LONG, READ_ONLY, SHORT, Key
from penstock.settings.topic import TOPIC_KEYS
from tests.hostile.bystander import TOPIC
from tests.hostile.target import NEVER_FLUSHED, Target
from tests.node.wire_kit import (
    FETCH_VERSION,
    PRODUCE_VERSION,
    Wire,
    fetch,
    fetched,
    part,
    produce,
    produced,
)

SET, DELETE = 0, 1
PATIENCE_S = 30.0
BITS = {SHORT: 15, INT: 31, LONG: 63}
UNTOUCHED = {
    **NEVER_FLUSHED,
    "max.message.bytes": "1048588",
    "message.timestamp.before.max.ms": str(2**63 - 1),
    "message.timestamp.after.max.ms": str(2**63 - 1),
    "compression.type": "producer",
    "cleanup.policy": "delete",
    "retention.ms": "-1",
    "retention.bytes": "-1",
    "segment.ms": str(2**63 - 1),
    "segment.bytes": str(2**30),
    "index.interval.bytes": "4096",
    "segment.index.bytes": "10485760",
    "segment.jitter.ms": "0",
}
"""Of the bystander's topic: what a broker's setting would rightly take from it."""
BUSY = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0", "segment.ms": "1"}
SOON = {"log.cleaner.backoff.ms": 20, "log.retention.check.interval.ms": 20}


pytestmark = pytest.mark.penstock(settings=SOON)


def absurd(key: Key) -> list[str]:
    if key.type == DOUBLE:
        # One byte a second has a test of its own: what has begun at that rate keeps it.
        least = ["1e-300"] if "per.second" in key.name else ["1e-300", "1"]
        return ["0", "-1", *least, "1.7976931348623157E308", "NaN", "Infinity"]
    most = 1 << BITS[key.type]
    return ["0", "-1", "1", str(most - 1), str(-most), str(most)]


def numbers(keys: dict[str, Key]) -> Iterator[Key]:
    for key in keys.values():
        is_number = key.type in BITS or key.type == DOUBLE
        # With few connections allowed, those of this very test are the first to go.
        if is_number and key.update_mode != READ_ONLY and not key.name.startswith("max.connection"):
            yield key


def change(wire: Wire, kind: int, name: str, key: str, value: str | None) -> int:
    operation = SET if value is not None else DELETE
    config = AlterableConfig(name=key, config_operation=operation, value=value)
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=[config])
    answer = wire.call(IncrementalAlterConfigsRequest(resources=[resource]), 1)
    return int(answer.responses[0].error_code)


def work(wire: Wire, *topics: str) -> None:
    """Whatever the answer is, there has to be one."""
    for topic in topics:
        write(wire, topic)


def write(wire: Wire, topic: str) -> int:
    now_ms = time.time_ns() // 1_000_000
    data = build_batch([Record(each, now_ms, b"k", b"x" * 100, []) for each in range(2)])
    return int(produced(wire.call(produce(topic, data), PRODUCE_VERSION)).error_code)


@pytest.fixture
def busy(target: Target) -> Target:
    """A broker with something to roll, drop and compact."""
    target.create_topic(TOPIC, config=UNTOUCHED)
    target.create_topic("plain")
    target.create_topic("compacted", config=BUSY)
    return target


def assert_sound(target: Target, wire: Wire) -> None:
    """Nothing went wrong unseen: records are taken, and what runs by itself still runs."""
    if not target.is_penstock:
        # Of Apache Kafka nothing is demanded: its waits are noted.
        return
    said = target.log
    assert "Traceback" not in said, said
    assert "ERROR" not in said, said
    assert write(wire, "plain") == 0
    assert_compacted(wire)


def assert_compacted(wire: Wire) -> None:
    """All is written with one key: the first record that is left is a recent one."""
    _, written = first_and_end(wire, "compacted")
    deadline = time.monotonic() + PATIENCE_S
    while first_and_end(wire, "compacted")[0] < written:
        assert time.monotonic() < deadline, "nothing is compacted any more"
        assert write(wire, "compacted") == 0
        time.sleep(0.05)


def first_and_end(wire: Wire, topic: str) -> tuple[int, int]:
    """The offset of the first record that is there, and that of the next to come."""
    found = fetched(wire.call(fetch({topic: [part()]}), FETCH_VERSION))[topic, 0]
    data = memoryview(found.records or b"")
    for position, header in iter_batches(data, 0, len(data)):
        for record in iter_records(data[position : position + header.size]):
            return record.offset, found.high_watermark
    return -1, found.high_watermark


@pytest.mark.parametrize("who", ["1", ""], ids=["one broker", "all brokers"])
def test_settings_of_a_broker(busy: Target, who: str) -> None:
    keys = [*numbers(BROKER_KEYS), *numbers(DYNAMIC_ONLY_KEYS)]
    case = f"{len(keys)} settings of {'a broker' if who else 'all brokers'}, absurd values"
    with busy.wire() as wire, busy.watched(case):
        for key in keys:
            for value in absurd(key):
                if change(wire, ResourceType.BROKER, who, key.name, value) == 0:
                    work(wire, "plain", "compacted")
                    if key.name.startswith(("log.cleaner.", "log.retention.", "log.roll.")):
                        # Long enough for the cleaner and retention to come by.
                        time.sleep(0.05)
            change(wire, ResourceType.BROKER, who, key.name, None)
        assert_sound(busy, wire)


@pytest.mark.penstock(
    settings={"log.cleaner.backoff.ms": 20, "log.retention.check.interval.ms": 20}
)
@pytest.mark.parametrize("topic", ["plain", "compacted"])
def test_settings_of_a_topic(busy: Target, topic: str) -> None:
    keys = list(numbers(TOPIC_KEYS))
    with (
        busy.wire() as wire,
        busy.watched(f"{len(keys)} settings of a {topic} topic, absurd values"),
    ):
        for key in keys:
            for value in absurd(key):
                if change(wire, ResourceType.TOPIC, topic, key.name, value) == 0:
                    work(wire, topic)
                    time.sleep(0.02)
            change(wire, ResourceType.TOPIC, topic, key.name, BUSY.get(key.name))
        assert_sound(busy, wire)


def test_settings_of_a_group(busy: Target) -> None:
    keys = list(numbers(GROUP_KEYS))
    with busy.wire() as wire, busy.watched(f"{len(keys)} settings of a group, absurd values"):
        for key in keys:
            for value in absurd(key):
                change(wire, ResourceType.GROUP, "g", key.name, value)
            change(wire, ResourceType.GROUP, "g", key.name, None)
        assert_sound(busy, wire)


def test_a_cleaner_at_one_byte_a_second(busy: Target) -> None:
    """It gets nowhere, and holds up nobody, not even the end of the node."""
    with busy.wire() as wire, busy.watched("a cleaner at one byte a second"):
        rate = "log.cleaner.io.max.bytes.per.second"
        assert change(wire, ResourceType.BROKER, "1", rate, "1") == 0
        for _ in range(20):
            work(wire, "compacted")
            time.sleep(0.02)
        assert write(wire, "plain") == 0 or not busy.is_penstock
    busy.broker.stop()


def test_a_huge_value(busy: Target) -> None:
    """As long as a string of the protocol can be, for a number, a list and a text. A name that
    nobody has declared is kept, with whatever value."""
    with busy.wire() as wire, busy.watched("settings of 30,000 characters"):
        for value in ("9" * 30_000, "delete," * 4_000, "x" * 30_000):
            for key in ("log.retention.ms", "log.cleanup.policy", "compression.type"):
                assert change(wire, ResourceType.BROKER, "1", key, value) != 0
            change(wire, ResourceType.BROKER, "1", "x" * 30_000, value)
        assert_sound(busy, wire)


def test_many_settings_at_once(busy: Target) -> None:
    """Ten thousand names that nobody has declared, in one request with one answer."""
    configs = [AlterableConfig(name=f"no.such.{i}", value="1") for i in range(10_000)]
    resource = AlterConfigsResource(resource_type=4, resource_name="1", configs=configs)
    with busy.wire() as wire, busy.watched("10,000 unknown settings in a request"):
        wire.call(IncrementalAlterConfigsRequest(resources=[resource]), 1)
        assert_sound(busy, wire)
