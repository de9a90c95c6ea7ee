"""All that a node has to tell whoever scrapes it, gathered.

Groups are many: they are looked at in steps, while others are served (`lag`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.handlers.broker import Broker
from penstock.network.listener import Listener
from penstock.node.cluster_gauge import cluster_gauges
from penstock.node.disk_gauge import disk_gauges
from penstock.node.failures import UpkeepFailures
from penstock.node.gauge import gauges
from penstock.node.lag.look import GroupLook
from penstock.node.metadata_plane import MetadataPlane
from penstock.node.partition_keeper import PartitionKeeper
from penstock.node.quota_gauge import quota_gauges
from penstock.node.tenant_gauge import tenant_gauges
from penstock.telemetry.metric import Exporter, Gauge, LabelledGauge


class NodeMetrics:
    def __init__(self, exporter: Exporter, groups: GroupLook) -> None:
        self._exporter = exporter
        self._groups = groups

    async def render(self) -> bytes:
        groups = await self._groups.render()
        return self._exporter.render() + groups


def new_metrics(
    broker: Broker,
    groups: GroupLook,
    listeners: Sequence[Listener],
    metadata: MetadataPlane,
    keeper: PartitionKeeper,
    failures: UpkeepFailures,
    more: Iterable[Gauge],
    more_labelled: Iterable[LabelledGauge],
) -> NodeMetrics:
    """`listeners` are those of clients."""
    single, labelled = gauges(listeners, broker.partitions, broker.log_dirs, failures)
    single += cluster_gauges(metadata, broker.partitions, keeper)
    single += more
    labelled += quota_gauges(broker.throttle, listeners)
    labelled += disk_gauges(broker.log_dirs, broker.clock)
    labelled += tenant_gauges(broker.image, lambda: broker.config)
    labelled += more_labelled
    exporter = Exporter(broker.metrics, single, labelled)
    return NodeMetrics(exporter, groups)
