"""The answer of each API to whom the whole of it is refused, in the form that Kafka gives it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.handlers import refusal
from penstock.model.error import ApiError
from penstock.protocol.entity import Entity
from penstock.protocol.frame import API_BY_KEY
from penstock.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from penstock.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from penstock.protocol.messages.create_acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from penstock.protocol.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from penstock.protocol.messages.describe_client_quotas import DescribeClientQuotasResponse
from penstock.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from penstock.protocol.messages.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)


def refuse(request: Entity, error: ApiError, version: int) -> Entity:
    assert request.API_KEY is not None
    form = _FORMS.get(request.API_KEY)
    if form is not None:
        return form(request, error)
    answer = refusal.refuse(request.API_KEY, version, request, error)
    if answer is not None:
        return answer
    whole: Any = API_BY_KEY[request.API_KEY].response_class()()
    whole.error_code = error.code
    if hasattr(whole, "error_message"):
        whole.error_message = error.message
    return whole  # type: ignore[no-any-return]


def _write_markers(request: WriteTxnMarkersRequest, error: ApiError) -> Entity:
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                producer_id=marker.producer_id,
                topics=[
                    WritableTxnMarkerTopicResult(
                        name=topic.name,
                        partitions=[
                            WritableTxnMarkerPartitionResult(
                                partition_index=index, error_code=error.code
                            )
                            for index in topic.partition_indexes
                        ],
                    )
                    for topic in marker.topics
                ],
            )
            for marker in request.markers
        ]
    )


def _create_acls(request: CreateAclsRequest, error: ApiError) -> Entity:
    refused = AclCreationResult(error_code=error.code, error_message=error.message)
    return CreateAclsResponse(results=[refused for _ in request.creations])


def _delete_acls(request: DeleteAclsRequest, error: ApiError) -> Entity:
    refused = DeleteAclsFilterResult(error_code=error.code, error_message=error.message)
    return DeleteAclsResponse(filter_results=[refused for _ in request.filters])


def _alter_replica_log_dirs(request: AlterReplicaLogDirsRequest, error: ApiError) -> Entity:
    return AlterReplicaLogDirsResponse(
        results=[
            AlterReplicaLogDirTopicResult(
                topic_name=topic.name,
                partitions=[
                    AlterReplicaLogDirPartitionResult(partition_index=index, error_code=error.code)
                    for index in topic.partitions
                ],
            )
            for one in request.dirs
            for topic in one.topics
        ]
    )


def _describe_quotas(request: Entity, error: ApiError) -> Entity:
    return DescribeClientQuotasResponse(
        error_code=error.code, error_message=error.message, entries=None
    )


def _describe_scram(request: DescribeUserScramCredentialsRequest, error: ApiError) -> Entity:
    """As many results as there are users, without their names: that is Kafka's form."""
    result = DescribeUserScramCredentialsResult(error_code=error.code, error_message=error.message)
    return DescribeUserScramCredentialsResponse(
        error_code=error.code,
        error_message=error.message,
        results=[result for _ in request.users or ()],
    )


def _alter_scram(request: AlterUserScramCredentialsRequest, error: ApiError) -> Entity:
    users = dict.fromkeys(
        [one.name for one in request.deletions] + [one.name for one in request.upsertions]
    )
    return AlterUserScramCredentialsResponse(
        results=[
            AlterUserScramCredentialsResult(
                user=user, error_code=error.code, error_message=error.message
            )
            for user in users
        ]
    )


_FORMS: dict[int, Callable[[Any, ApiError], Entity]] = {
    27: _write_markers,
    30: _create_acls,
    31: _delete_acls,
    34: _alter_replica_log_dirs,
    48: _describe_quotas,
    50: _describe_scram,
    51: _alter_scram,
}
