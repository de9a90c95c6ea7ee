"""Everything of share groups on this node, put together when the first of them is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.coordinator.share_host import ShareHost
from penstock.coordinator.share_state import ShareStates
from penstock.handlers.share.beginning import ShareBeginnings
from penstock.handlers.share.partitions import SharePartitions

if TYPE_CHECKING:
    from penstock.coordinator.brokers import Brokers
    from penstock.handlers.broker import Broker


class ShareSide:
    """`host` keeps states, `states` finds them wherever they are kept, `partitions` hand out
    records, `beginnings` see to new groups."""

    def __init__(self, broker: Broker, host: ShareHost, brokers: Brokers) -> None:
        self.host = host
        self.brokers = brokers
        self.states = ShareStates(broker.node_id, broker.image, host, brokers, broker.clock.now_ms)
        self.partitions = SharePartitions(broker, self.states)
        self.beginnings = ShareBeginnings(broker, self.states)

    async def close(self) -> None:
        self.beginnings.close()
        await self.partitions.close()
        await self.host.close()
