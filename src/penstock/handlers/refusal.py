"""What is answered when a request could not be carried out as a whole.

The disk may be full when the controller writes down a change: nothing has changed then, and every
item of the request is told the same. An API that is not here answers such errors itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.model.error import ApiError, ErrorCode, StorageError, code_of
from penstock.protocol.entity import Entity
from penstock.protocol.frame import API_BY_KEY
from penstock.protocol.messages.alter_client_quotas import (
    AlterClientQuotasResponse,
    ResponseEntityData,
    ResponseEntryData,
)
from penstock.protocol.messages.alter_configs import (
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from penstock.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from penstock.protocol.messages.create_partitions import (
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from penstock.protocol.messages.create_topics import CreatableTopicResult, CreateTopicsResponse
from penstock.protocol.messages.delete_topics import DeletableTopicResult, DeleteTopicsResponse
from penstock.protocol.messages.elect_leaders import (
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from penstock.protocol.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse as IncrementalResourceResponse,
)
from penstock.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsResponse
from penstock.protocol.messages.init_producer_id import InitProducerIdResponse
from penstock.protocol.messages.unregister_broker import UnregisterBrokerResponse
from penstock.protocol.messages.update_features import UpdateFeaturesResponse

_ELECTION_CODE_SINCE = 1
"""The first version says what went wrong of each partition alone."""

Refusal = Callable[[Any, ErrorCode, str | None], Entity]


def refuse(
    api_key: int, version: int, request: Entity, error: ApiError | StorageError
) -> Entity | None:
    """The answer to a request that failed; None where this API has none."""
    answer = _refusal(api_key, request, error)
    if isinstance(answer, ElectLeadersResponse) and version < _ELECTION_CODE_SINCE:
        answer.error_code = ErrorCode.NONE
    return answer


def _refusal(api_key: int, request: Entity, error: ApiError | StorageError) -> Entity | None:
    refusal = _REFUSALS.get(api_key)
    if refusal is None and api_key in _AS_A_WHOLE:
        response = API_BY_KEY[api_key].response_class()
        return response(error_code=code_of(error))  # type: ignore[call-arg]
    if refusal is None:
        return None
    if isinstance(error, ApiError):
        return refusal(request, error.code, error.message)
    return refusal(request, ErrorCode.KAFKA_STORAGE_ERROR, str(error))


def _create_topics(request: Any, code: ErrorCode, message: str | None) -> Entity:
    return CreateTopicsResponse(
        topics=[
            CreatableTopicResult(
                name=topic.name,
                error_code=code,
                error_message=message,
                num_partitions=-1,
                replication_factor=-1,
            )
            for topic in request.topics
        ]
    )


def _delete_topics(request: Any, code: ErrorCode, message: str | None) -> Entity:
    named = [(name, None) for name in request.topic_names]
    named += [(topic.name, topic.topic_id) for topic in request.topics]
    return DeleteTopicsResponse(
        responses=[
            DeletableTopicResult(
                name=name,
                error_code=code,
                error_message=message,
                **({} if topic_id is None else {"topic_id": topic_id}),
            )
            for name, topic_id in named
        ]
    )


def _create_partitions(request: Any, code: ErrorCode, message: str | None) -> Entity:
    return CreatePartitionsResponse(
        results=[
            CreatePartitionsTopicResult(name=topic.name, error_code=code, error_message=message)
            for topic in request.topics
        ]
    )


def _alter_configs(request: Any, code: ErrorCode, message: str | None) -> Entity:
    return AlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error_code=code,
                error_message=message,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in request.resources
        ]
    )


def _incremental_alter_configs(request: Any, code: ErrorCode, message: str | None) -> Entity:
    return IncrementalAlterConfigsResponse(
        responses=[
            IncrementalResourceResponse(
                error_code=code,
                error_message=message,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in request.resources
        ]
    )


def _elect_leaders(request: Any, code: ErrorCode, message: str | None) -> Entity:
    return ElectLeadersResponse(
        error_code=code,
        replica_election_results=[
            ReplicaElectionResult(
                topic=topic.topic,
                partition_result=[
                    PartitionResult(partition_id=one, error_code=code, error_message=message)
                    for one in topic.partitions
                ],
            )
            for topic in request.topic_partitions or ()
        ],
    )


def _alter_reassignments(request: Any, code: ErrorCode, message: str | None) -> Entity:
    return AlterPartitionReassignmentsResponse(
        error_code=code,
        error_message=message,
        responses=[
            ReassignableTopicResponse(
                name=topic.name,
                partitions=[
                    ReassignablePartitionResponse(
                        partition_index=one.partition_index, error_code=code, error_message=message
                    )
                    for one in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


def _init_producer_id(request: Any, code: ErrorCode, message: str | None) -> Entity:
    # Producers know how to wait for a coordinator, and not what a disk is.
    if code == ErrorCode.KAFKA_STORAGE_ERROR:
        code = ErrorCode.COORDINATOR_NOT_AVAILABLE
    return InitProducerIdResponse(error_code=code, producer_id=-1, producer_epoch=-1)


def _update_features(request: Any, code: ErrorCode, message: str | None) -> Entity:
    return UpdateFeaturesResponse(error_code=code, error_message=message)


def _unregister_broker(request: Any, code: ErrorCode, message: str | None) -> Entity:
    return UnregisterBrokerResponse(error_code=code, error_message=message)


def _alter_client_quotas(request: Any, code: ErrorCode, message: str | None) -> Entity:
    return AlterClientQuotasResponse(
        entries=[
            ResponseEntryData(
                error_code=code,
                error_message=message,
                entity=[
                    ResponseEntityData(entity_type=part.entity_type, entity_name=part.entity_name)
                    for part in entry.entity
                ],
            )
            for entry in request.entries
        ]
    )


_AS_A_WHOLE = frozenset({38, 39, 40, 46, 55, 56, 62, 63, 67, 70, 73, 80, 81})
"""One error code stands for the request: reassignments, the quorum, and what brokers ask."""

_REFUSALS: dict[int, Refusal] = {
    19: _create_topics,
    20: _delete_topics,
    22: _init_producer_id,
    33: _alter_configs,
    37: _create_partitions,
    43: _elect_leaders,
    44: _incremental_alter_configs,
    45: _alter_reassignments,
    49: _alter_client_quotas,
    57: _update_features,
    64: _unregister_broker,
}
