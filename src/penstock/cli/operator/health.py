"""What is wrong with partitions: under-replicated, below min.insync.replicas, offline. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from penstock.cli.operator.state import PartitionReplicas


class Fault(StrEnum):
    under_replicated = "under-replicated"
    under_min_isr = "under-min-isr"
    at_min_isr = "at-min-isr"
    offline = "offline"


def has_fault(partition: PartitionReplicas, fault: Fault, min_isr: int) -> bool:
    in_sync = len(partition.isr)
    # As a broker has it: no more replicas can be demanded than there are.
    min_isr = min(min_isr, len(partition.target))
    match fault:
        case Fault.under_replicated:
            return bool(partition.lagging)
        case Fault.under_min_isr:
            return in_sync < min_isr
        case Fault.at_min_isr:
            return in_sync == min_isr
        case Fault.offline:
            return partition.leader is None


def find_faults(
    partitions: Iterable[PartitionReplicas],
    faults: Iterable[Fault],
    min_isr: Mapping[str, int],
) -> list[PartitionReplicas]:
    """Those that have any of the faults, in order."""
    wanted = list(faults)
    found = (
        each
        for each in partitions
        if any(has_fault(each, fault, min_isr.get(each.place.topic, 1)) for fault in wanted)
    )
    return sorted(found, key=lambda each: each.place)
