"""Which rule of the controller answers which request, whichever way the request came."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from penstock.controller.outcome import ChargePartitions, Outcome, charge_nobody
from penstock.controller.shard import ControllerShard
from penstock.model.error import ApiError, ErrorCode
from penstock.model.principal import ANONYMOUS, Principal
from penstock.protocol.entity import Entity


class Asked(NamedTuple):
    """How a request came."""

    version: int
    controller_id: int
    receiver_id: int | None
    """The broker to which the client sent it; None if another one sent it on."""
    now_ms: int
    principal: Principal = ANONYMOUS
    charge: ChargePartitions = charge_nobody
    """Partitions made or deleted, to whoever asks."""


Rule = Callable[[ControllerShard, Any, Asked], Outcome[Any]]


def _token(shard: ControllerShard, request: Any, asked: Asked) -> Outcome[Any]:
    return shard.decide_token(request, asked.principal, asked.now_ms)


RULES: dict[str, Rule] = {
    "CreateTopicsRequest": lambda shard, request, asked: shard.decide_create_topics(
        request, asked.charge
    ),
    "DeleteTopicsRequest": lambda shard, request, asked: shard.decide_delete_topics(
        request, asked.charge
    ),
    "CreatePartitionsRequest": lambda shard, request, asked: shard.decide_create_partitions(
        request, asked.charge
    ),
    "AlterConfigsRequest": lambda shard, request, asked: shard.decide_alter_configs(
        request, asked.receiver_id
    ),
    "IncrementalAlterConfigsRequest": lambda shard, request, asked: (
        shard.decide_incremental_alter_configs(request, asked.receiver_id)
    ),
    "ElectLeadersRequest": lambda shard, request, _: shard.decide_elect_leaders(request),
    "AlterPartitionReassignmentsRequest": lambda shard, request, _: (
        shard.decide_alter_reassignments(request)
    ),
    "ListPartitionReassignmentsRequest": lambda shard, request, _: shard.decide_list_reassignments(
        request
    ),
    "AlterUserScramCredentialsRequest": lambda shard, request, _: shard.decide_alter_scram(request),
    "CreateAclsRequest": lambda shard, request, _: shard.decide_create_acls(request),
    "DeleteAclsRequest": lambda shard, request, _: shard.decide_delete_acls(request),
    "CreateDelegationTokenRequest": _token,
    "RenewDelegationTokenRequest": _token,
    "ExpireDelegationTokenRequest": _token,
    "AlterClientQuotasRequest": lambda shard, request, _: shard.decide_alter_quotas(request),
    "UpdateFeaturesRequest": lambda shard, request, asked: shard.decide_update_features(
        request, asked.version, asked.controller_id
    ),
    "UnregisterBrokerRequest": lambda shard, request, _: shard.decide_unregister_broker(request),
    "AllocateProducerIdsRequest": lambda shard, request, _: shard.decide_allocate_producer_ids(
        request
    ),
    "BrokerRegistrationRequest": lambda shard, request, asked: shard.decide_register_broker(
        request, asked.version, asked.now_ms
    ),
    "BrokerHeartbeatRequest": lambda shard, request, asked: shard.decide_heartbeat(
        request, asked.now_ms
    ),
    "ControllerRegistrationRequest": lambda shard, request, asked: shard.decide_register_controller(
        request, asked.now_ms
    ),
    "AlterPartitionRequest": lambda shard, request, asked: shard.decide_alter_partition(
        request, asked.version
    ),
    "AssignReplicasToDirsRequest": lambda shard, request, _: shard.decide_assign_replicas(request),
}
"""By the name of the request: to ask for one is not to load the others."""


def decide(shard: ControllerShard, request: Entity, asked: Asked) -> Outcome[Any]:
    rule = RULES.get(request.NAME)
    if rule is None:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"{request.NAME} is none of the controller's")
    return rule(shard, request, asked)
