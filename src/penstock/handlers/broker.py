"""What handlers may use: the node as seen from an API."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.handlers.fetch_session import FetchSessions
from penstock.model.clock import Clock
from penstock.replication.partition_set import PartitionSet
from penstock.settings.config import BrokerConfig
from penstock.telemetry.metric import BrokerMetrics

if TYPE_CHECKING:
    from penstock.handlers.controller_link import ControllerLink
    from penstock.handlers.group_host import GroupHost
    from penstock.handlers.producer_id import ProducerIds
    from penstock.metadata.image import ClusterImage
    from penstock.storage.log_dir import LogDir


@dataclass(slots=True)
class Endpoint:
    host: str
    port: int


@dataclass(slots=True)
class Broker:
    node_id: int
    cluster_id: str
    config: BrokerConfig
    clock: Clock
    loop: asyncio.AbstractEventLoop
    image: ClusterImage
    partitions: PartitionSet
    controller: ControllerLink
    groups: GroupHost
    producer_ids: ProducerIds
    fetch_sessions: FetchSessions
    metrics: BrokerMetrics
    log_dir: LogDir
    endpoint: Endpoint
