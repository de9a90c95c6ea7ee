"""What the node can tell about itself at any moment, for whoever scrapes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter

from penstock.network.listener import Listener
from penstock.node.failures import UpkeepFailures
from penstock.replication.partition_set import PartitionSet
from penstock.storage.log_dirs import LogDirs
from penstock.telemetry.loop import LoopIdle
from penstock.telemetry.metric import Gauge, LabelledGauge


def gauges(
    listeners: Sequence[Listener],
    partitions: PartitionSet,
    log_dirs: LogDirs,
    failures: UpkeepFailures,
) -> tuple[list[Gauge], list[LabelledGauge]]:
    def failed_handshakes() -> Iterator[tuple[tuple[str, ...], float]]:
        for each in listeners:
            if each.handshakes is not None:
                yield from each.handshakes.failures.counts()

    def log_sizes() -> Iterator[tuple[tuple[str, ...], float]]:
        for partition in partitions:
            if partition.is_open:
                yield (partition.topic, str(partition.index)), partition.log.size_bytes

    def end_offsets() -> Iterator[tuple[tuple[str, ...], float]]:
        for partition in partitions:
            if partition.is_open:
                yield (partition.topic, str(partition.index)), partition.log.end_offset

    single: list[Gauge] = [
        *_traffic_gauges(listeners),
        ("penstock_partitions", "Partitions with a replica here", lambda: len(partitions)),
        ("penstock_loop_idle_ratio", "Share of time with nothing to do", LoopIdle().ratio),
        (
            "penstock_log_dir_offline",
            "Data directories that have failed",
            lambda: len(log_dirs.offline),
        ),
        *_damage_gauges(log_dirs),
    ]
    labelled: list[LabelledGauge] = [
        ("penstock_upkeep_failures", "Since start", ("job",), failures.counts),
        (
            "penstock_tls_handshakes_failed",
            "Since start",
            ("listener", "reason"),
            failed_handshakes,
        ),
        (
            "penstock_log_size_bytes",
            "Size of the logs in use since start",
            ("topic", "partition"),
            log_sizes,
        ),
        (
            "penstock_log_end_offset",
            "Next offset of the logs in use since start",
            ("topic", "partition"),
            end_offsets,
        ),
    ]
    return single, labelled


def _traffic_gauges(listeners: Sequence[Listener]) -> list[Gauge]:
    def over_all(figure: Callable[[Listener], float]) -> Callable[[], float]:
        return lambda: sum(map(figure, listeners))

    return [
        (
            "penstock_connections",
            "Open client connections",
            over_all(lambda each: len(each.connections)),
        ),
        ("penstock_connections_accepted", "Since start", over_all(attrgetter("accepted_count"))),
        (
            "penstock_received_bytes",
            "From clients, all of it",
            over_all(attrgetter("received_bytes")),
        ),
        ("penstock_sent_bytes", "To clients, all of it", over_all(attrgetter("sent_bytes"))),
        (
            "penstock_request_memory_bytes",
            "Held by large requests under way",
            over_all(lambda each: each.budget.used_bytes),
        ),
    ]


def _damage_gauges(log_dirs: LogDirs) -> list[Gauge]:
    return [
        (
            "penstock_partitions_offline",
            "Partitions that are damaged, or in a failed directory, and not served",
            lambda: _offline(log_dirs),
        ),
        (
            "penstock_recovery_records_cut",
            "Records that could be made out in what was cut from damaged logs since start",
            lambda: sum(each.losses.records for each in log_dirs.all),
        ),
        (
            "penstock_recovery_bytes_cut",
            "Bytes cut from damaged logs since start",
            lambda: sum(each.losses.size_bytes for each in log_dirs.all),
        ),
        (
            "penstock_recovery_logs_cut",
            "Logs that lost their end since start",
            lambda: sum(each.losses.logs for each in log_dirs.all),
        ),
        (
            "penstock_deletions_waiting",
            "Files and directories still to be removed",
            lambda: sum(len(each.trash) for each in log_dirs.all),
        ),
    ]


def _offline(log_dirs: LogDirs) -> int:
    failed = log_dirs.offline
    damaged = sum(len(each.damaged) for each in log_dirs.all if each not in failed)
    return damaged + sum(each.partition_count for each in failed)
