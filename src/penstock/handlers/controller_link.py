"""The controller as handlers see it: ask, and get the answer when it is committed.

In a cluster of one the controller runs in this process. With more, this is where a request is
sent on to the one that leads.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from penstock.controller.outcome import Outcome
from penstock.controller.shard import ControllerShard
from penstock.controller.topic_name import check_topic_name
from penstock.coordinator.topic import COORDINATOR_TOPICS, CoordinatorTopic
from penstock.machine.decision import Decision
from penstock.metadata.record import MetadataRecord
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.network.later import Later
from penstock.protocol.entity import Entity
from penstock.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from penstock.protocol.messages.alter_client_quotas import AlterClientQuotasRequest
from penstock.protocol.messages.alter_configs import AlterConfigsRequest
from penstock.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
)
from penstock.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
)
from penstock.protocol.messages.create_partitions import CreatePartitionsRequest
from penstock.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from penstock.protocol.messages.delete_topics import DeleteTopicsRequest
from penstock.protocol.messages.elect_leaders import ElectLeadersRequest
from penstock.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from penstock.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
)
from penstock.protocol.messages.unregister_broker import UnregisterBrokerRequest
from penstock.protocol.messages.update_features import UpdateFeaturesRequest
from penstock.raft import QuorumView
from penstock.runtime.driver import Runtime
from penstock.settings.config import BrokerConfig
from penstock.telemetry.log import get_logger

ReplyT = TypeVar("ReplyT")

log = get_logger("controller")


class ControllerLink:
    def __init__(
        self,
        active: Callable[[], Runtime[ControllerShard, MetadataRecord]],
        node_id: int,
        quorum: Callable[[], QuorumView | ErrorCode],
        config: Callable[[], BrokerConfig],
    ) -> None:
        self._config = config
        self._active = active
        self._node_id = node_id
        self.quorum = quorum

    def name_error(self, name: str) -> ErrorCode | None:
        """Why no topic can have this name, if so."""
        try:
            check_topic_name(name)
        except ApiError as error:
            return error.code
        return None

    @property
    def has_pending(self) -> bool:
        """Whether the controller is here and has decided something that is not committed yet."""
        try:
            return self._active().pending_count > 0
        except ApiError:
            return False

    async def wait_pending(self) -> None:
        """Until that is committed, or never will be."""
        try:
            await self._active().submit(lambda _: Decision((), None))
        except (ApiError, StorageError):
            return

    def create_missing_topics(self, names: Sequence[str]) -> None:
        """Begin to create topics that were used before they were made; nobody waits for it.

        As in Kafka, who asked is told that the topic is unknown and asks again: a test that deletes
        a topic and looks whether it is gone must not be shown the one that its look has made.
        """

        def failed(error: Exception) -> None:
            log.warning("topics not created", count=len(names), first=names[0], reason=str(error))

        request = CreateTopicsRequest(topics=[self._as_used(name) for name in dict.fromkeys(names)])
        try:
            answer = self._active().ask(lambda shard: shard.decide_create_topics(request))
        except (ApiError, StorageError) as error:
            failed(error)
        else:
            if isinstance(answer, Later):
                answer.listen(_log_uncreated, failed)
            else:
                _log_uncreated(answer)

    async def create_internal_topic(self, topic: CoordinatorTopic) -> None:
        """What fails is found out by who looks for the topic afterwards."""
        request = CreateTopicsRequest(topics=[self._fitted(topic)])
        await self._active().submit(lambda shard: shard.decide_create_topics(request))

    def _as_used(self, name: str) -> CreatableTopic:
        """A topic that somebody used before it was made: with the broker's defaults, or as its
        coordinator wants it. One without compaction would lose groups to retention."""
        build = COORDINATOR_TOPICS.get(name)
        if build is None:
            return CreatableTopic(name=name, num_partitions=-1, replication_factor=-1)
        return self._fitted(build(self._config()))

    def _fitted(self, topic: CoordinatorTopic) -> CreatableTopic:
        fitted = topic.fitted(len(self._active().machine.image.active_brokers))
        return CreatableTopic(
            name=fitted.name,
            num_partitions=fitted.partition_count,
            replication_factor=fitted.replication_factor,
            configs=[
                CreatableTopicConfig(name=name, value=value)
                for name, value in fitted.configs.items()
            ],
        )

    async def allocate_producer_ids(self, broker_epoch: int) -> range:
        request = AllocateProducerIdsRequest(broker_id=self._node_id, broker_epoch=broker_epoch)
        response = await self._active().submit(
            lambda shard: shard.decide_allocate_producer_ids(request)
        )
        if response.error_code:
            raise ApiError(ErrorCode(response.error_code), "no producer ids from the controller")
        start = response.producer_id_start
        return range(start, start + response.producer_id_len)

    def create_topics(self, request: CreateTopicsRequest) -> Awaitable[Entity]:
        return self._submit(lambda shard: shard.decide_create_topics(request))

    def delete_topics(self, request: DeleteTopicsRequest) -> Awaitable[Entity]:
        return self._submit(lambda shard: shard.decide_delete_topics(request))

    def create_partitions(self, request: CreatePartitionsRequest) -> Awaitable[Entity]:
        return self._submit(lambda shard: shard.decide_create_partitions(request))

    def alter_configs(self, request: AlterConfigsRequest) -> Awaitable[Entity]:
        return self._submit(lambda shard: shard.decide_alter_configs(request, self._node_id))

    def incremental_alter_configs(
        self, request: IncrementalAlterConfigsRequest
    ) -> Awaitable[Entity]:
        return self._submit(
            lambda shard: shard.decide_incremental_alter_configs(request, self._node_id)
        )

    def elect_leaders(self, request: ElectLeadersRequest) -> Awaitable[Entity]:
        return self._submit(lambda shard: shard.decide_elect_leaders(request))

    def alter_partition_reassignments(
        self, request: AlterPartitionReassignmentsRequest
    ) -> Awaitable[Entity]:
        return self._submit(lambda shard: shard.decide_alter_reassignments(request))

    def list_partition_reassignments(
        self, request: ListPartitionReassignmentsRequest
    ) -> Awaitable[Entity]:
        return self._submit(lambda shard: shard.decide_list_reassignments(request))

    def alter_user_scram_credentials(
        self, request: AlterUserScramCredentialsRequest
    ) -> Awaitable[Entity]:
        return self._submit(lambda shard: shard.decide_alter_scram(request))

    def alter_client_quotas(self, request: AlterClientQuotasRequest) -> Awaitable[Entity]:
        return self._submit(lambda shard: shard.decide_alter_quotas(request))

    def update_features(self, request: UpdateFeaturesRequest, version: int) -> Awaitable[Entity]:
        return self._submit(
            lambda shard: shard.decide_update_features(request, version, self._node_id)
        )

    def unregister_broker(self, request: UnregisterBrokerRequest) -> Awaitable[Entity]:
        return self._submit(lambda shard: shard.decide_unregister_broker(request))

    async def _submit(self, decide: Callable[[ControllerShard], Outcome[ReplyT]]) -> ReplyT:
        return await self._active().submit(decide)


def _log_uncreated(response: CreateTopicsResponse) -> None:
    for topic in response.topics:
        if topic.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
            code = ErrorCode(topic.error_code)
            log.warning("topic not created", topic=topic.name, error=code.name)
