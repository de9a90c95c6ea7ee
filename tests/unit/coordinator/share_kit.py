"""A member of a share group of the kit's cluster: at most one request is under way."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from penstock.handlers.call import ClientState
from penstock.metadata.config import ResourceType
from penstock.model.error import ErrorCode
from penstock.model.feature import SHARE_VERSION
from penstock.protocol.messages import share_acknowledge as acknowledging
from penstock.protocol.messages import share_fetch as fetching
from penstock.protocol.messages.records.config_record import ConfigRecord
from penstock.protocol.messages.records.feature_level_record import FeatureLevelRecord
from penstock.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.unit.coordinator.client_kit import GROUP as GROUP_KIND
from tests.unit.coordinator.client_kit import PAUSE_S, coordinator
from tests.unit.coordinator.cluster_kit import DATA, KitCluster, KitNode, leader_of

GROUP = "workers"
ACCEPT, RELEASE, RENEW = 1, 2, 4
Acquired = tuple[int, int, int]
"""First and last offset, and how often they were handed out."""


def switch_on(cluster: KitCluster, **settings: str) -> None:
    cluster.records.append(FeatureLevelRecord(name=SHARE_VERSION, feature_level=1))
    for name, value in {"auto_offset_reset": "earliest", **settings}.items():
        cluster.records.append(
            ConfigRecord(
                resource_type=ResourceType.GROUP,
                resource_name=GROUP,
                name=f"share.{name.replace('_', '.')}",
                value=value,
            )
        )
    cluster.tell()


class Member:
    """It reads one partition."""

    def __init__(self, cluster: KitCluster, name: str = "m") -> None:
        self.cluster = cluster
        self.name = name
        self.client = ClientState("127.0.0.1:2")
        self.epoch = 0
        self.session_epoch = 0

    async def join(self) -> None:
        """Until it has something to read."""
        while not await self._beat():
            await asyncio.sleep(PAUSE_S)

    async def _beat(self) -> bool:
        node = await coordinator(self.cluster, GROUP_KIND, GROUP)
        answer = await node.ask(
            ShareGroupHeartbeatRequest(
                group_id=GROUP,
                member_id=self.name,
                member_epoch=self.epoch,
                subscribed_topic_names=[DATA],
            ),
            client=self.client,
        )
        assert answer.error_code == ErrorCode.NONE, answer.error_message
        self.epoch = answer.member_epoch
        return bool(answer.assignment and answer.assignment.topic_partitions)

    async def close(self) -> None:
        """It leaves, and its connection to the leader ends."""
        self.epoch = -1
        await self._beat()
        self._leader.broker.share.partitions.on_connection_ended(self.client)

    async def fetch(
        self, wait_ms: int = 500, done: Sequence[fetching.AcknowledgementBatch] = ()
    ) -> list[Acquired]:
        partition = fetching.FetchPartition(partition_index=0, acknowledgement_batches=list(done))
        answer = await self._leader.ask(
            fetching.ShareFetchRequest(
                group_id=GROUP,
                member_id=self.name,
                share_session_epoch=self._next_session_epoch(),
                max_wait_ms=wait_ms,
                max_records=500,
                batch_size=500,
                topics=[fetching.FetchTopic(topic_id=self._topic_id, partitions=[partition])],
            ),
            client=self.client,
        )
        assert answer.error_code == ErrorCode.NONE, answer.error_message
        found = [one for topic in answer.responses for one in topic.partitions]
        for one in found:
            assert one.error_code == ErrorCode.NONE, one
        return [
            (batch.first_offset, batch.last_offset, batch.delivery_count)
            for one in found
            for batch in one.acquired_records
        ]

    async def acknowledge(self, first: int, last: int, kind: int = ACCEPT) -> ErrorCode:
        batch = acknowledging.AcknowledgementBatch(
            first_offset=first, last_offset=last, acknowledge_types=[kind]
        )
        partition = acknowledging.AcknowledgePartition(
            partition_index=0, acknowledgement_batches=[batch]
        )
        topic = acknowledging.AcknowledgeTopic(topic_id=self._topic_id, partitions=[partition])
        answer = await self._leader.ask(
            acknowledging.ShareAcknowledgeRequest(
                group_id=GROUP,
                member_id=self.name,
                share_session_epoch=self._next_session_epoch(),
                is_renew_ack=kind == RENEW,
                topics=[topic],
            ),
            client=self.client,
        )
        assert answer.error_code == ErrorCode.NONE, answer.error_message
        return ErrorCode(answer.responses[0].partitions[0].error_code)

    @property
    def _leader(self) -> KitNode:
        return leader_of(self.cluster, DATA)

    @property
    def _topic_id(self) -> bytes:
        topic: Any = self._leader.image.topics.get(DATA)
        found: bytes = topic.id
        return found

    def _next_session_epoch(self) -> int:
        self.session_epoch += 1
        return self.session_epoch - 1
