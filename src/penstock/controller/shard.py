"""The controller: a pure machine over the cluster image.

Owns which rule answers which request. Each `decide_*` reads the image and returns records with a
reply; only `replay` changes anything. A request that fails as a whole raises ApiError.

The one that leads is made from the image of what is committed, and thrown away when it leads no
longer: what it knows besides records, as who was heard of when, is of no use to the next.

A rule is imported when it is first asked for, like the handlers: most nodes never move a replica
or grant anything. What every start needs is imported above.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, TypeVar

from penstock.controller import activation
from penstock.controller.broker_registration import (
    decide_cordon,
    decide_fence_broker,
    decide_register_broker,
    decide_unfence_broker,
    decide_unregister_broker,
)
from penstock.controller.broker_session import BrokerSessions
from penstock.controller.config import (
    ConfigSchema,
    ControllerConfig,
    ControllerContext,
    ControllerQuorum,
)
from penstock.controller.outcome import ChargePartitions, Outcome, charge_nobody
from penstock.controller.partition_index import IndexedImage
from penstock.controller.periodic import PeriodicWork
from penstock.machine.decision import Decision
from penstock.machine.timers import TimerKey
from penstock.metadata.image import ClusterImage
from penstock.metadata.record import MetadataRecord, RecordKind
from penstock.model.id import TopicId
from penstock.model.principal import Principal
from penstock.protocol.messages.records.register_broker_record import RegisterBrokerRecord

if TYPE_CHECKING:
    from penstock.controller.token import TokenRequest, TokenResponse
    from penstock.protocol.messages.allocate_producer_ids import (
        AllocateProducerIdsRequest,
        AllocateProducerIdsResponse,
    )
    from penstock.protocol.messages.alter_client_quotas import (
        AlterClientQuotasRequest,
        AlterClientQuotasResponse,
    )
    from penstock.protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
    from penstock.protocol.messages.alter_partition import (
        AlterPartitionRequest,
        AlterPartitionResponse,
    )
    from penstock.protocol.messages.alter_partition_reassignments import (
        AlterPartitionReassignmentsRequest,
        AlterPartitionReassignmentsResponse,
    )
    from penstock.protocol.messages.alter_user_scram_credentials import (
        AlterUserScramCredentialsRequest,
        AlterUserScramCredentialsResponse,
    )
    from penstock.protocol.messages.assign_replicas_to_dirs import (
        AssignReplicasToDirsRequest,
        AssignReplicasToDirsResponse,
    )
    from penstock.protocol.messages.broker_heartbeat import (
        BrokerHeartbeatRequest,
        BrokerHeartbeatResponse,
    )
    from penstock.protocol.messages.broker_registration import (
        BrokerRegistrationRequest,
        BrokerRegistrationResponse,
    )
    from penstock.protocol.messages.controller_registration import (
        ControllerRegistrationRequest,
        ControllerRegistrationResponse,
    )
    from penstock.protocol.messages.create_acls import CreateAclsRequest, CreateAclsResponse
    from penstock.protocol.messages.create_partitions import (
        CreatePartitionsRequest,
        CreatePartitionsResponse,
    )
    from penstock.protocol.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
    from penstock.protocol.messages.delete_acls import DeleteAclsRequest, DeleteAclsResponse
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

ReplyT = TypeVar("ReplyT")

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
        self.quorum = ControllerQuorum()
        """The host of the metadata log says here who votes, as that changes."""
        self._draw_id = new_id
        self._sessions = BrokerSessions(config.broker_session_timeout_ms)
        self._context = ControllerContext(
            self.image,
            config,
            schema,
            self._new_id,
            self._sessions,
            IndexedImage(self.image),
            self.quorum,
        )
        self._periodic = PeriodicWork(self._context)

    def replay(self, record: MetadataRecord, offset: int) -> None:
        self.image.replay(record, offset)
        if record.API_KEY == RecordKind.REGISTER_BROKER:
            assert isinstance(record, RegisterBrokerRecord)
            self._sessions.note_registered(record.broker_id, offset)

    def expire(self, key: TimerKey, now_ms: int) -> Decision[MetadataRecord, None]:
        return self._periodic.expire(key, now_ms)

    def note_contact(self, broker_id: int, broker_epoch: int, now_ms: int) -> None:
        """A heartbeat has arrived. Called before it waits for its turn: however busy the controller
        is, nobody is taken for dead who has spoken (KAFKA-15019)."""
        broker = self.image.brokers.get(broker_id)
        if broker is not None and broker.epoch == broker_epoch:
            self._sessions.note_contact(broker_id, now_ms)

    def _with_timers(
        self,
        outcome: Outcome[ReplyT],
        now_ms: int,
        new_node_id: int | None = None,
        *,
        has_tokens: bool = False,
    ) -> Outcome[ReplyT]:
        """The periodic work begins with the second node, or with the first token."""
        nodes = {*self.image.brokers, *self.image.controllers, *self.quorum.voter_ids}
        is_new = new_node_id is not None and new_node_id not in nodes
        timers = self._periodic.timers_to_start(now_ms, int(is_new), has_tokens=has_tokens)
        adopt = outcome.adopt

        def adopt_both() -> None:
            if adopt is not None:
                adopt()
            self._periodic.adopt(timers)

        return outcome._replace(timers=[*outcome.timers, *timers], adopt=adopt_both)

    def _new_id(self) -> TopicId:
        """Text forms that begin with a dash look like options to command-line tools."""
        while True:
            drawn = self._draw_id()
            is_reserved = int.from_bytes(drawn, "big") < _RESERVED_IDS
            if not is_reserved and drawn[0] >> 2 != _DASH and drawn not in self.image.topics.by_id:
                return drawn

    def decide_activate(
        self, bootstrap: Sequence[MetadataRecord] | None = None, now_ms: int | None = None
    ) -> Outcome[None]:
        """Without `now_ms` for a node that is its own cluster: nobody has a session with it."""
        outcome = activation.decide_activate(self._context, bootstrap)
        if now_ms is None:
            return outcome
        adopt = activation.begin_sessions(self._context, now_ms)
        return self._with_timers(outcome._replace(adopt=adopt), now_ms)

    def decide_register_broker(
        self, request: BrokerRegistrationRequest, version: int | None = None, now_ms: int = 0
    ) -> Outcome[BrokerRegistrationResponse]:
        outcome = decide_register_broker(self._context, request, version, now_ms)
        if version is None:
            return outcome
        return self._with_timers(outcome, now_ms, request.broker_id)

    def decide_register_controller(
        self, request: ControllerRegistrationRequest, now_ms: int
    ) -> Outcome[ControllerRegistrationResponse]:
        from penstock.controller.controller_registration import decide_register_controller

        outcome = decide_register_controller(self._context, request)
        return self._with_timers(outcome, now_ms, request.controller_id)

    def decide_heartbeat(
        self, request: BrokerHeartbeatRequest, now_ms: int, received_ms: int | None = None
    ) -> Outcome[BrokerHeartbeatResponse]:
        from penstock.controller.broker_heartbeat import decide_heartbeat

        return decide_heartbeat(self._context, request, now_ms, received_ms)

    def decide_alter_partition(
        self, request: AlterPartitionRequest, version: int
    ) -> Outcome[AlterPartitionResponse]:
        from penstock.controller.alter_partition import decide_alter_partition

        return decide_alter_partition(self._context, request, version)

    def decide_assign_replicas(
        self, request: AssignReplicasToDirsRequest
    ) -> Outcome[AssignReplicasToDirsResponse]:
        from penstock.controller.directory_assignment import decide_assign_replicas

        return decide_assign_replicas(self._context, request)

    def decide_unfence_broker(self, broker_id: int, broker_epoch: int) -> Outcome[None]:
        return decide_unfence_broker(self._context, broker_id, broker_epoch)

    def decide_cordon(
        self, broker_id: int, broker_epoch: int, directories: Collection[bytes]
    ) -> Outcome[None]:
        return decide_cordon(self._context, broker_id, broker_epoch, directories)

    def decide_fence_broker(self, broker_id: int, broker_epoch: int) -> Outcome[None]:
        return decide_fence_broker(self._context, broker_id, broker_epoch)

    def decide_create_topics(
        self, request: CreateTopicsRequest, charge: ChargePartitions = charge_nobody
    ) -> Outcome[CreateTopicsResponse]:
        from penstock.controller.topic_creation import decide_create_topics

        return decide_create_topics(self._context, request, charge)

    def decide_delete_topics(
        self, request: DeleteTopicsRequest, charge: ChargePartitions = charge_nobody
    ) -> Outcome[DeleteTopicsResponse]:
        from penstock.controller.topic_deletion import decide_delete_topics

        return decide_delete_topics(self._context, request, charge)

    def decide_create_partitions(
        self, request: CreatePartitionsRequest, charge: ChargePartitions = charge_nobody
    ) -> Outcome[CreatePartitionsResponse]:
        from penstock.controller.partition_creation import decide_create_partitions

        return decide_create_partitions(self._context, request, charge)

    def decide_alter_configs(
        self, request: AlterConfigsRequest, receiver_id: int | None = None
    ) -> Outcome[AlterConfigsResponse]:
        from penstock.controller.config_change import decide_alter_configs

        return decide_alter_configs(self._context, request, receiver_id)

    def decide_incremental_alter_configs(
        self, request: IncrementalAlterConfigsRequest, receiver_id: int | None = None
    ) -> Outcome[IncrementalAlterConfigsResponse]:
        from penstock.controller.config_change import decide_incremental_alter_configs

        return decide_incremental_alter_configs(self._context, request, receiver_id)

    def decide_alter_reassignments(
        self, request: AlterPartitionReassignmentsRequest
    ) -> Outcome[AlterPartitionReassignmentsResponse]:
        from penstock.controller.reassignment import decide_alter_reassignments

        return decide_alter_reassignments(self._context, request)

    def decide_alter_scram(
        self, request: AlterUserScramCredentialsRequest
    ) -> Outcome[AlterUserScramCredentialsResponse]:
        from penstock.controller.scram import decide_alter_scram

        return decide_alter_scram(self._context, request)

    def decide_create_acls(self, request: CreateAclsRequest) -> Outcome[CreateAclsResponse]:
        from penstock.controller.acl import decide_create_acls

        return decide_create_acls(self._context, request)

    def decide_delete_acls(self, request: DeleteAclsRequest) -> Outcome[DeleteAclsResponse]:
        from penstock.controller.acl import decide_delete_acls

        return decide_delete_acls(self._context, request)

    def decide_token(
        self, request: TokenRequest, requester: Principal, now_ms: int
    ) -> Outcome[TokenResponse]:
        from penstock.controller.token import decide_token

        outcome = decide_token(self._context, request, requester, now_ms)
        return self._with_timers(outcome, now_ms, has_tokens=bool(outcome.records))

    def decide_alter_quotas(
        self, request: AlterClientQuotasRequest
    ) -> Outcome[AlterClientQuotasResponse]:
        from penstock.controller.quota import decide_alter_quotas

        return decide_alter_quotas(self._context, request)

    def decide_update_features(
        self, request: UpdateFeaturesRequest, version: int, node_id: int
    ) -> Outcome[UpdateFeaturesResponse]:
        from penstock.controller.feature import decide_update_features

        return decide_update_features(self._context, request, version, node_id)

    def decide_unregister_broker(
        self, request: UnregisterBrokerRequest
    ) -> Outcome[UnregisterBrokerResponse]:
        return decide_unregister_broker(self._context, request)

    def decide_list_reassignments(
        self, request: ListPartitionReassignmentsRequest
    ) -> Outcome[ListPartitionReassignmentsResponse]:
        from penstock.controller.reassignment import decide_list_reassignments

        return decide_list_reassignments(self._context, request)

    def decide_elect_leaders(self, request: ElectLeadersRequest) -> Outcome[ElectLeadersResponse]:
        from penstock.controller.leader_election import decide_elect_leaders

        return decide_elect_leaders(self._context, request)

    def decide_allocate_producer_ids(
        self, request: AllocateProducerIdsRequest
    ) -> Outcome[AllocateProducerIdsResponse]:
        from penstock.controller.producer_id import decide_allocate_producer_ids

        return decide_allocate_producer_ids(self._context, request)
