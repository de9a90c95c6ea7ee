"""All that a node has to tell whoever scrapes it, gathered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.handlers.broker import Broker
from penstock.network.listener import Listener
from penstock.node.cluster_gauge import cluster_gauges
from penstock.node.failures import UpkeepFailures
from penstock.node.gauge import gauges
from penstock.node.metadata_plane import MetadataPlane
from penstock.node.partition_keeper import PartitionKeeper
from penstock.node.quota_gauge import quota_gauges
from penstock.telemetry.metric import Exporter, Gauge, LabelledGauge


def new_exporter(
    broker: Broker,
    listeners: Sequence[Listener],
    metadata: MetadataPlane,
    keeper: PartitionKeeper,
    failures: UpkeepFailures,
    more: Iterable[Gauge],
    more_labelled: Iterable[LabelledGauge],
) -> Exporter:
    """`listeners` of clients."""
    single, labelled = gauges(listeners, broker.partitions, broker.log_dirs, failures)
    single += cluster_gauges(metadata, broker.partitions, keeper)
    single += more
    labelled += [*quota_gauges(broker.throttle, listeners), *more_labelled]
    return Exporter(broker.metrics, single, labelled)
