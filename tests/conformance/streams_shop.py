"""A shop whose orders a Kafka Streams application works on: for tests of either protocol."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from penstock.testing.record import create_topic, produce_records, read_records
from tests.conformance.clients.record import PATIENCE_SECONDS
from tests.conformance.conftest import START_SECONDS
from tests.conformance.own_broker import OwnBroker
from tests.patience import wait_until
from tools.apache_kafka import start_program

SOURCE = Path(__file__).parent / "java" / "OrderTotals.java"
APPLICATION = "order-totals"
CUSTOMERS = 7
STREAMS_SETTINGS = {
    "application.id": APPLICATION,
    "processing.guarantee": "exactly_once_v2",
    "commit.interval.ms": "100",
    "repartition.purge.interval.ms": "100",
    "statestore.cache.max.bytes": "0",
    "consumer.auto.offset.reset": "earliest",
}
# As Java's producer places keys: tables that are joined have to agree on that.
LIKE_JAVA = {"partitioner": "murmur2_random"}
NAMES = {f"c{number}": f"Customer {number}" for number in range(CUSTOMERS)}


@dataclass
class Shop:
    """Orders that come in, and instances of the application that work on them."""

    broker: OwnBroker
    folder: Path
    settings: Mapping[str, str]
    """Of every instance, beside those of the application."""
    orders: dict[str, str] = field(default_factory=dict)
    instances: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return self.broker.bootstrap_servers

    def furnish(self) -> None:
        for topic in ("orders", "customers", "copies", "totals", "windows"):
            create_topic(self.address, topic, 2, {}, PATIENCE_SECONDS)
        produce_records(self.address, "customers", NAMES.items(), settings=LIKE_JAVA)

    def open(self, name: str, **more: str) -> None:
        own = {"bootstrap.servers": self.address, "state.dir": str(self.folder / name)}
        chosen = (
            own
            | STREAMS_SETTINGS
            | dict(self.settings)
            | {key.replace("_", "."): more[key] for key in more}
        )
        words = [f"{key}={value}" for key, value in chosen.items()]
        self.instances[name] = start_program(str(SOURCE), words, self.folder / f"{name}.out")

    def kill(self, name: str) -> None:
        self.instances[name].kill()
        self.instances.pop(name).communicate()

    def close(self) -> None:
        for instance in self.instances.values():
            assert instance.stdin is not None
            instance.stdin.close()
        for name, instance in self.instances.items():
            try:
                instance.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                instance.kill()
                instance.wait()
                pytest.fail(f"{name} did not end: see {self.folder}")
        self.instances.clear()

    def order(self, count: int) -> None:
        first = len(self.orders)
        numbers = range(first, first + count)
        new = {f"o{n}": f"c{n % CUSTOMERS}:{n}" for n in numbers}
        produce_records(self.address, "orders", new.items(), timeout_s=PATIENCE_SECONDS)
        self.orders |= new

    def wait_done(self) -> None:
        """Instances that were just opened have to start first."""
        wait_until(lambda: self.last("totals") == self.expected_totals(), patience_s=START_SECONDS)
        wait_until(lambda: len(self.pairs("copies")) >= len(self.orders))

    def expected_totals(self) -> dict[str, str]:
        totals = {}
        for customer, name in NAMES.items():
            amounts = [int(v.split(":")[1]) for v in self.orders.values() if v.startswith(customer)]
            totals[customer] = f"{name}:{len(amounts)}:{sum(amounts)}"
        return totals

    def pairs(self, topic: str) -> list[tuple[str, str]]:
        found = read_records(self.address, topic, timeout_s=PATIENCE_SECONDS)
        return [((one.key or b"").decode(), (one.value or b"").decode()) for one in found]

    def last(self, topic: str) -> dict[str, str]:
        return dict(self.pairs(topic))
