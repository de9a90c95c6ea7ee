"""The controller: a pure machine over the cluster image.

Owns which rule answers which request. Each `decide_*` reads the image and returns records with a
reply; only `replay` changes anything. A request that fails as a whole raises ApiError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.controller import activation, config_change, producer_id
from penstock.controller.broker_registration import (
    decide_fence_broker,
    decide_register_broker,
    decide_unfence_broker,
    decide_unregister_broker,
)
from penstock.controller.config import ConfigSchema, ControllerConfig, ControllerContext
from penstock.controller.feature import decide_update_features
from penstock.controller.leader_election import decide_elect_leaders
from penstock.controller.outcome import Outcome
from penstock.controller.partition_creation import decide_create_partitions
from penstock.controller.quota import decide_alter_quotas
from penstock.controller.reassignment import (
    decide_alter_reassignments,
    decide_list_reassignments,
)
from penstock.controller.scram import decide_alter_scram
from penstock.controller.topic_creation import decide_create_topics
from penstock.controller.topic_deletion import decide_delete_topics
from penstock.machine.decision import Decision
from penstock.machine.timers import TimerKey
from penstock.metadata.image import ClusterImage
from penstock.metadata.record import MetadataRecord
from penstock.model.id import TopicId
from penstock.protocol.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from penstock.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
)
from penstock.protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from penstock.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from penstock.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
)
from penstock.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from penstock.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
)
from penstock.protocol.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
from penstock.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from penstock.protocol.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from penstock.protocol.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from penstock.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from penstock.protocol.messages.unregister_broker import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)
from penstock.protocol.messages.update_features import (
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

_DASH = 62
_RESERVED_IDS = 100


class ControllerShard:
    def __init__(
        self,
        config: ControllerConfig,
        schema: ConfigSchema,
        new_id: Callable[[], TopicId],
        image: ClusterImage | None = None,
    ) -> None:
        self.image = ClusterImage() if image is None else image
        self.config = config
        self._draw_id = new_id
        self._context = ControllerContext(self.image, config, schema, self._new_id)

    def replay(self, record: MetadataRecord, offset: int) -> None:
        self.image.replay(record, offset)

    def expire(self, key: TimerKey, now_ms: int) -> Decision[MetadataRecord, None]:
        return Decision((), None)

    def _new_id(self) -> TopicId:
        """Text forms that begin with a dash look like options to command-line tools."""
        while True:
            drawn = self._draw_id()
            is_reserved = int.from_bytes(drawn, "big") < _RESERVED_IDS
            if not is_reserved and drawn[0] >> 2 != _DASH and drawn not in self.image.topics.by_id:
                return drawn

    def decide_activate(self, bootstrap: Sequence[MetadataRecord] | None = None) -> Outcome[None]:
        return activation.decide_activate(self._context, bootstrap)

    def decide_register_broker(
        self, request: BrokerRegistrationRequest
    ) -> Outcome[BrokerRegistrationResponse]:
        return decide_register_broker(self._context, request)

    def decide_unfence_broker(self, broker_id: int, broker_epoch: int) -> Outcome[None]:
        return decide_unfence_broker(self._context, broker_id, broker_epoch)

    def decide_fence_broker(self, broker_id: int, broker_epoch: int) -> Outcome[None]:
        return decide_fence_broker(self._context, broker_id, broker_epoch)

    def decide_create_topics(self, request: CreateTopicsRequest) -> Outcome[CreateTopicsResponse]:
        return decide_create_topics(self._context, request)

    def decide_delete_topics(self, request: DeleteTopicsRequest) -> Outcome[DeleteTopicsResponse]:
        return decide_delete_topics(self._context, request)

    def decide_create_partitions(
        self, request: CreatePartitionsRequest
    ) -> Outcome[CreatePartitionsResponse]:
        return decide_create_partitions(self._context, request)

    def decide_alter_configs(
        self, request: AlterConfigsRequest, receiver_id: int | None = None
    ) -> Outcome[AlterConfigsResponse]:
        return config_change.decide_alter_configs(self._context, request, receiver_id)

    def decide_incremental_alter_configs(
        self, request: IncrementalAlterConfigsRequest, receiver_id: int | None = None
    ) -> Outcome[IncrementalAlterConfigsResponse]:
        return config_change.decide_incremental_alter_configs(self._context, request, receiver_id)

    def decide_alter_reassignments(
        self, request: AlterPartitionReassignmentsRequest
    ) -> Outcome[AlterPartitionReassignmentsResponse]:
        return decide_alter_reassignments(self.image, request)

    def decide_alter_scram(
        self, request: AlterUserScramCredentialsRequest
    ) -> Outcome[AlterUserScramCredentialsResponse]:
        return decide_alter_scram(self._context, request)

    def decide_alter_quotas(
        self, request: AlterClientQuotasRequest
    ) -> Outcome[AlterClientQuotasResponse]:
        return decide_alter_quotas(self._context, request)

    def decide_update_features(
        self, request: UpdateFeaturesRequest, version: int, node_id: int
    ) -> Outcome[UpdateFeaturesResponse]:
        return decide_update_features(self._context, request, version, node_id)

    def decide_unregister_broker(
        self, request: UnregisterBrokerRequest
    ) -> Outcome[UnregisterBrokerResponse]:
        return decide_unregister_broker(self._context, request)

    def decide_list_reassignments(
        self, request: ListPartitionReassignmentsRequest
    ) -> Outcome[ListPartitionReassignmentsResponse]:
        return decide_list_reassignments(self.image, request)

    def decide_elect_leaders(self, request: ElectLeadersRequest) -> Outcome[ElectLeadersResponse]:
        return decide_elect_leaders(self._context, request)

    def decide_allocate_producer_ids(
        self, request: AllocateProducerIdsRequest
    ) -> Outcome[AllocateProducerIdsResponse]:
        return producer_id.decide_allocate_producer_ids(self._context, request)
