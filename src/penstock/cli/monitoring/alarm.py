"""The alarms, in the order in which they matter, as rules for Prometheus. Pure.

Lag leads: it is what users feel. Under-replicated partitions are the fire alarm: the next failure
loses the service. An alarm is there for a broker that declares all of its metrics.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final, NamedTuple

_METRIC: Final = re.compile(r"\bpenstock_[a-z0-9_]+")
_PARTS: Final = ("_bucket", "_sum", "_count")


class Alarm(NamedTuple):
    name: str
    severity: str
    """page: now, whatever the hour; ticket: today."""
    expression: str
    lasting: str
    summary: str
    action: str

    @property
    def metrics(self) -> set[str]:
        return set(_METRIC.findall(self.expression))


ALARMS: Final = (
    Alarm(
        "ConsumerLagOverSla",
        "page",
        "max by (group, topic) (penstock_group_sla_over_seconds) > 0",
        "1m",
        "Group {{ $labels.group }} is {{ $value }} s over its limit on {{ $labels.topic }}",
        "penstock lag, then penstock groups describe {{ $labels.group }}",
    ),
    Alarm(
        "ConsumerLagGrows",
        "ticket",
        "max by (group) (penstock_group_lag_seconds_max) > 300 "
        "and max by (group) (deriv(penstock_group_lag_seconds_max[10m])) > 0",
        "10m",
        "Group {{ $labels.group }} is {{ $value }} s behind, and falls further behind",
        "penstock groups describe {{ $labels.group }}; more members help up to one a partition",
    ),
    Alarm(
        "ConsumerGroupWithoutMembers",
        "ticket",
        "max by (group) (penstock_group_members) == 0 "
        "and max by (group) (penstock_group_lag_sum) > 0",
        "10m",
        "Group {{ $labels.group }} has records to read and nobody who reads them",
        "start its consumers, or delete the group if nobody needs it",
    ),
    Alarm(
        "UnderReplicatedPartitions",
        "page",
        "sum by (instance) (penstock_under_replicated_partitions) > 0",
        "1m",
        "{{ $value }} partitions led by {{ $labels.instance }} lack a replica in sync",
        "penstock topics describe --under-replicated; restart no other broker before it is over",
    ),
    Alarm(
        "PartitionsBelowMinIsr",
        "page",
        "sum by (instance) (penstock_under_min_isr_partitions) > 0",
        "30s",
        "{{ $value }} partitions led by {{ $labels.instance }} take no acks=all writes",
        "penstock topics describe --under-min-isr; bring the missing brokers back",
    ),
    Alarm(
        "PartitionsWithoutLeader",
        "page",
        "max(penstock_offline_partitions) > 0",
        "30s",
        "{{ $value }} partitions have no leader: neither written nor read",
        "penstock topics describe --offline; bring back a broker that was in sync",
    ),
    Alarm(
        "NoActiveController",
        "page",
        "sum(penstock_active_controller) != 1",
        "1m",
        "{{ $value }} active controllers, not one",
        "penstock quorum; a majority of the voters has to run",
    ),
    Alarm(
        "BrokersFenced",
        "page",
        "max(penstock_fenced_brokers) > 0",
        "2m",
        "{{ $value }} brokers are registered and do not answer the controller",
        "penstock brokers list; look at their logs",
    ),
    Alarm(
        "LogDirectoryOffline",
        "page",
        "max by (instance) (penstock_log_dir_offline) > 0",
        "0s",
        "A log directory of {{ $labels.instance }} has failed",
        "penstock log-dirs; replace the disk, its replicas are led elsewhere",
    ),
    Alarm(
        "DiskNearlyFull",
        "page",
        "1 - penstock_disk_usable_bytes / penstock_disk_total_bytes > 0.85",
        "5m",
        "{{ $labels.directory }} of {{ $labels.instance }} is "
        "{{ $value | humanizePercentage }} full",
        "penstock log-dirs --free shows what could go, penstock balance plan what could move",
    ),
    Alarm(
        "DiskFullSoon",
        "page",
        "penstock_disk_full_in_seconds < 14400",
        "15m",
        "{{ $labels.directory }} of {{ $labels.instance }} is full in "
        "{{ $value | humanizeDuration }}",
        "penstock hot finds who writes, penstock log-dirs --free what could go",
    ),
    Alarm(
        "DiskFilling",
        "ticket",
        "1 - penstock_disk_usable_bytes / penstock_disk_total_bytes > 0.6",
        "10m",
        "{{ $labels.directory }} of {{ $labels.instance }} is "
        "{{ $value | humanizePercentage }} full; above 60 % a failed broker fills the others",
        "penstock capacity says how many brokers it takes",
    ),
    Alarm(
        "UncleanElections",
        "page",
        "increase(penstock_unclean_leader_elections[15m]) > 0",
        "0s",
        "A leader was elected that was not in sync: acknowledged records may be lost",
        "compare what consumers have with their sources",
    ),
    Alarm(
        "BrokerBusy",
        "ticket",
        "penstock_loop_idle_ratio < 0.2",
        "10m",
        "{{ $labels.instance }} is idle {{ $value | humanizePercentage }} of its time",
        "penstock quotas top; move leaders to other brokers",
    ),
    Alarm(
        "FlushSlow",
        "ticket",
        "histogram_quantile(0.99, sum by (instance, le) (rate(penstock_flush_seconds_bucket[5m])))"
        " > 0.5",
        "10m",
        "One flush in a hundred of {{ $labels.instance }} takes {{ $value }} s",
        "look at the disk: what else writes to it?",
    ),
    Alarm(
        "DamagedReplicas",
        "ticket",
        "max by (instance) (penstock_damaged_replicas) > 0",
        "10m",
        "{{ $value }} replicas of {{ $labels.instance }} are damaged and not repaired",
        "see its log; a disk that damages data should be replaced",
    ),
    Alarm(
        "CertificateExpires",
        "ticket",
        "min by (instance) (penstock_tls_certificate_days_left) < 14",
        "1h",
        "A certificate of {{ $labels.instance }} ends in {{ $value }} days",
        "put a new one in its place; the broker takes it while it runs",
    ),
    Alarm(
        "UnexpectedErrors",
        "ticket",
        "increase(penstock_unexpected_errors_total[15m]) > 0",
        "0s",
        "{{ $labels.instance }} met an error that nobody was there for",
        "its log has the traceback: please report it",
    ),
)


def known_alarms(names: Iterable[str]) -> list[Alarm]:
    """Those whose metrics all are declared."""
    there = set(names)
    return [each for each in ALARMS if all(_is_declared(one, there) for one in each.metrics)]


def _is_declared(metric: str, there: set[str]) -> bool:
    families = {metric, *(metric.removesuffix(part) for part in _PARTS)}
    return bool(families & there)


def rules_text(names: Iterable[str]) -> str:
    """A file of rules; JSON's strings are YAML's."""
    lines = ["groups:", "  - name: penstock", "    rules:"]
    for each in known_alarms(names):
        lines += [
            f"      - alert: {each.name}",
            f"        expr: {json.dumps(each.expression)}",
            f"        for: {each.lasting}",
            "        labels:",
            f"          severity: {each.severity}",
            "        annotations:",
            f"          summary: {json.dumps(each.summary)}",
            f"          action: {json.dumps(each.action)}",
        ]
    return "\n".join(lines) + "\n"
