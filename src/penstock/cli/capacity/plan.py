"""How much of disks, network, brokers and partitions a load needs, with the arithmetic. Pure."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

from penstock.cli.capacity.topic_advice import PER_CONSUMER

FILL: Final = 0.6
"""As full as a disk may be: above that, a broker that fails takes the others' disks to the end."""
_BROKER_PARTITIONS_MAX: Final = 4000


@dataclass(frozen=True, slots=True)
class Demand:
    write_bytes_s: float
    """Of producers, on average."""
    peak_factor: float = 3.0
    replication: int = 3
    retention_s: float = 7 * 86_400.0
    groups: float = 1.0
    """How many times each byte is read."""
    outage_s: float = 3_600.0
    """As long as consumers may be away; they have to catch up in `catch_up_s`."""
    catch_up_s: float = 3_600.0
    partition_bytes_s: float = 10 * 1024.0**2
    """What one partition takes, as measured."""
    consumers: int = 1
    """Members of the largest group."""
    headroom: float = 1.5
    disk_bytes: float = 2 * 1024.0**4
    """Of one broker."""
    network_bytes_s: float = 125_000_000 * 10.0
    """Of one broker, each way."""


class Step(NamedTuple):
    name: str
    formula: str
    value: float
    unit: str
    """bytes, bytes/s or nothing."""


@dataclass(frozen=True, slots=True)
class Plan:
    steps: list[Step]
    brokers: int
    partitions: int
    warnings: list[str]

    def document(self) -> dict[str, Any]:
        return {
            "brokers": self.brokers,
            "partitions": self.partitions,
            "steps": [each._asdict() for each in self.steps],
            "warnings": self.warnings,
        }


def plan_for(demand: Demand) -> Plan:
    d = demand
    peak = d.write_bytes_s * d.peak_factor
    stored = d.write_bytes_s * d.retention_s * d.replication
    disk = stored * d.headroom / FILL
    copies = d.replication - 1
    came = peak * d.replication * d.headroom
    backlog = d.write_bytes_s * d.outage_s
    catching = (backlog / d.catch_up_s + d.write_bytes_s) * d.groups
    reading = max(peak * d.groups, catching)
    went = (reading + peak * copies) * d.headroom
    for_disk = math.ceil(disk / d.disk_bytes)
    for_network = math.ceil(max(came, went) / d.network_bytes_s)
    needed = max(for_disk, for_network, d.replication)
    by_rate = math.ceil(peak / d.partition_bytes_s)
    by_consumers = PER_CONSUMER[0] * d.consumers
    partitions = max(by_rate, by_consumers, 1)
    steps = [
        Step("peak of producers", "average x peak factor", peak, "bytes/s"),
        Step("kept on disks", "average x retention x replicas", stored, "bytes"),
        Step("disks, at most 60 % full", "kept x headroom / 0.6", disk, "bytes"),
        Step("network in", "peak x replicas x headroom", came, "bytes/s"),
        Step("read at peak", "peak x groups", peak * d.groups, "bytes/s"),
        Step(
            "read to catch up",
            "(average x outage / catch-up time + average) x groups",
            catching,
            "bytes/s",
        ),
        Step(
            "network out",
            "(the larger of both + peak x (replicas - 1)) x headroom",
            went,
            "bytes/s",
        ),
        Step("brokers for disks", "disks / disk of one", for_disk, ""),
        Step("brokers for network", "the larger of in and out / network of one", for_network, ""),
        Step("brokers", "the largest, at least one a replica, and a spare", needed + 1, ""),
        Step("partitions for the rate", "peak / rate of one partition", by_rate, ""),
        Step("partitions for consumers", "2 x consumers", by_consumers, ""),
        Step("partitions", "the larger of both", partitions, ""),
    ]
    return Plan(steps, needed + 1, partitions, _warnings(d, partitions, needed + 1))


def _warnings(demand: Demand, partitions: int, brokers: int) -> list[str]:
    found = []
    if demand.consumers > 1 and partitions > PER_CONSUMER[1] * demand.consumers:
        found.append(
            f"{partitions} partitions are more than {PER_CONSUMER[1]} times the "
            f"{demand.consumers} consumers: more consumers, or a higher rate of one partition"
        )
    if partitions * demand.replication > _BROKER_PARTITIONS_MAX * brokers:
        found.append(f"more than {_BROKER_PARTITIONS_MAX} replicas a broker")
    if not 1.5 <= demand.headroom <= 2:
        found.append(f"a headroom of {demand.headroom:g} is outside of 1.5 to 2")
    if demand.replication < 3:
        found.append(
            f"with {demand.replication} replicas a failed broker and a restart lose service"
        )
    return found


class DiskOutlook(NamedTuple):
    broker: int
    used_bytes: float
    total_bytes: float
    growth_bytes_s: float

    @property
    def share(self) -> float:
        return self.used_bytes / self.total_bytes

    def seconds_until(self, share: float) -> float | None:
        """None if it does not grow; 0 if it is there."""
        left = share * self.total_bytes - self.used_bytes
        if left <= 0:
            return 0.0
        return left / self.growth_bytes_s if self.growth_bytes_s > 0 else None

    def document(self) -> dict[str, Any]:
        return self._asdict() | {
            "share": self.share,
            "seconds_to_alarm": self.seconds_until(FILL),
            "seconds_to_full": self.seconds_until(1.0),
            "alarm": self.share >= FILL,
        }


def demand_document(demand: Demand) -> dict[str, Any]:
    return asdict(demand)
