"""Everything a node tells about itself, put together for whoever scrapes it."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.network.listener import Listener
from penstock.node.cluster_gauge import cluster_gauges
from penstock.node.gauge import gauges
from penstock.node.listener_security import ListenerSecurity
from penstock.node.metadata_plane import MetadataPlane
from penstock.node.partition_keeper import PartitionKeeper
from penstock.node.upkeep import Upkeep
from penstock.replication.partition_set import PartitionSet
from penstock.storage.log_dirs import LogDirs
from penstock.telemetry.metric import BrokerMetrics, Exporter


def new_exporter(
    metrics: BrokerMetrics,
    listeners: Sequence[Listener],
    security: ListenerSecurity,
    partitions: PartitionSet,
    log_dirs: LogDirs,
    keeper: PartitionKeeper,
    upkeep: Upkeep,
    metadata: MetadataPlane,
) -> Exporter:
    single, labelled = gauges(listeners, partitions, log_dirs, upkeep.failures)
    single += cluster_gauges(metadata, partitions, keeper.tally, keeper.repairs)
    return Exporter(metrics, single, [*labelled, *security.gauges()])
