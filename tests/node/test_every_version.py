"""Every API this node advertises answers at every version it advertises."""

from __future__ import annotations

import socket
from struct import unpack
from typing import Any

import pytest

from penstock.handlers.table import BROKER_MODULES
from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.frame import API_BY_KEY, decode_response, encode_request
from penstock.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from penstock.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from penstock.protocol.messages.alter_client_quotas import AlterClientQuotasRequest
from penstock.protocol.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from penstock.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from penstock.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from penstock.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
)
from penstock.protocol.messages.api_versions import ApiVersionsRequest
from penstock.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from penstock.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from penstock.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from penstock.protocol.messages.create_delegation_token import CreateDelegationTokenRequest
from penstock.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from penstock.protocol.messages.delete_groups import DeleteGroupsRequest
from penstock.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from penstock.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.protocol.messages.describe_acls import DescribeAclsRequest
from penstock.protocol.messages.describe_client_quotas import DescribeClientQuotasRequest
from penstock.protocol.messages.describe_cluster import DescribeClusterRequest
from penstock.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from penstock.protocol.messages.describe_delegation_token import DescribeDelegationTokenRequest
from penstock.protocol.messages.describe_groups import DescribeGroupsRequest
from penstock.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from penstock.protocol.messages.describe_producers import DescribeProducersRequest
from penstock.protocol.messages.describe_producers import TopicRequest as ProducersTopic
from penstock.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    RequestPartitionData,
    RequestTopicData,
)
from penstock.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from penstock.protocol.messages.describe_transactions import DescribeTransactionsRequest
from penstock.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from penstock.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from penstock.protocol.messages.end_txn import EndTxnRequest
from penstock.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from penstock.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.heartbeat import HeartbeatRequest
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig as IncrementalConfig,
)
from penstock.protocol.messages.incremental_alter_configs import (
    AlterConfigsResource as IncrementalResource,
)
from penstock.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from penstock.protocol.messages.init_producer_id import InitProducerIdRequest
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from penstock.protocol.messages.list_config_resources import ListConfigResourcesRequest
from penstock.protocol.messages.list_groups import ListGroupsRequest
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
)
from penstock.protocol.messages.list_transactions import ListTransactionsRequest
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.protocol.messages.offset_delete import OffsetDeleteRequest
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from penstock.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from penstock.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from penstock.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from penstock.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from penstock.protocol.messages.sasl_handshake import SaslHandshakeRequest
from penstock.protocol.messages.sync_group import SyncGroupRequest
from penstock.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from penstock.protocol.messages.unregister_broker import UnregisterBrokerRequest
from penstock.protocol.messages.update_features import UpdateFeaturesRequest
from penstock.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from penstock.records.builder import build_batch
from penstock.records.record import Record
from tests.node.share_and_streams_kit import (
    share_requests,
    share_state_requests,
    streams_requests,
    voter_requests,
)

TOPIC = "every-version"
TOPIC_RESOURCE = 2


def call(address: str, request: Entity, version: int) -> Any:
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=60) as sock:
        sock.sendall(encode_request(7, version, request, "test"))
        size = unpack(">i", read_exactly(sock, 4))[0]
        correlation_id, response = decode_response(
            type(request).API_KEY, version, read_exactly(sock, size)
        )
    assert correlation_id == 7
    return response


def read_exactly(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        assert more, "the node hung up"
        data += more
    return data


def requests(version: int, topic_id: bytes) -> dict[int, Entity]:
    """One sensible request per API, fit for the version."""
    batch = build_batch([Record(0, 1_700_000_000_000, b"k", b"v", [])])
    named: dict[str, Any] = {"topic": TOPIC} if version < 13 else {"topic_id": topic_id}
    produced: dict[str, Any] = {"name": TOPIC} if version < 13 else {"topic_id": topic_id}
    fetched = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    deleted = (
        {"topics": [DeleteTopicState(name="absent")]}
        if version >= 6
        else {"topic_names": ["absent"]}
    )
    return {
        0: ProduceRequest(
            acks=-1,
            timeout_ms=1000,
            topic_data=[
                TopicProduceData(
                    **produced, partition_data=[PartitionProduceData(index=0, records=batch)]
                )
            ],
        ),
        1: FetchRequest(
            max_wait_ms=0, min_bytes=0, topics=[FetchTopic(**named, partitions=[fetched])]
        ),
        2: ListOffsetsRequest(
            replica_id=-1,
            topics=[
                ListOffsetsTopic(
                    name=TOPIC, partitions=[ListOffsetsPartition(partition_index=0, timestamp=-1)]
                )
            ],
        ),
        3: MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)]),
        **group_requests(version, topic_id),
        **transaction_requests(version),
        **security_requests(),
        **share_requests(),
        **share_state_requests(),
        **streams_requests(),
        **voter_requests(),
        18: ApiVersionsRequest(client_software_name="test", client_software_version="1.0"),
        19: CreateTopicsRequest(
            topics=[CreatableTopic(name=TOPIC, num_partitions=1, replication_factor=1)]
        ),
        20: DeleteTopicsRequest(**deleted),
        21: DeleteRecordsRequest(
            topics=[
                DeleteRecordsTopic(
                    name=TOPIC, partitions=[DeleteRecordsPartition(partition_index=0, offset=0)]
                )
            ]
        ),
        22: InitProducerIdRequest(transactional_id=None),
        23: OffsetForLeaderEpochRequest(
            replica_id=-1,
            topics=[
                OffsetForLeaderTopic(
                    topic=TOPIC, partitions=[OffsetForLeaderPartition(partition=0, leader_epoch=0)]
                )
            ],
        ),
        32: DescribeConfigsRequest(
            resources=[
                DescribeConfigsResource(
                    resource_type=TOPIC_RESOURCE, resource_name=TOPIC, configuration_keys=None
                )
            ]
        ),
        33: AlterConfigsRequest(
            validate_only=True,
            resources=[
                AlterConfigsResource(
                    resource_type=TOPIC_RESOURCE,
                    resource_name=TOPIC,
                    configs=[AlterableConfig(name="retention.ms", value="5")],
                )
            ],
        ),
        34: AlterReplicaLogDirsRequest(
            dirs=[
                AlterReplicaLogDir(
                    path="/absent", topics=[AlterReplicaLogDirTopic(name=TOPIC, partitions=[0])]
                )
            ]
        ),
        35: DescribeLogDirsRequest(topics=None),
        37: CreatePartitionsRequest(
            topics=[CreatePartitionsTopic(name=TOPIC, count=1, assignments=None)]
        ),
        43: ElectLeadersRequest(topic_partitions=[TopicPartitions(topic=TOPIC, partitions=[0])]),
        44: IncrementalAlterConfigsRequest(
            validate_only=True,
            resources=[
                IncrementalResource(
                    resource_type=TOPIC_RESOURCE,
                    resource_name=TOPIC,
                    configs=[IncrementalConfig(name="retention.ms", value="5")],
                )
            ],
        ),
        49: AlterClientQuotasRequest(),
        57: UpdateFeaturesRequest(),
        64: UnregisterBrokerRequest(broker_id=99),
        55: DescribeQuorumRequest(
            topics=[
                RequestTopicData(
                    topic_name="__cluster_metadata",
                    partitions=[RequestPartitionData(partition_index=0)],
                )
            ]
        ),
        60: DescribeClusterRequest(),
        61: DescribeProducersRequest(topics=[ProducersTopic(name=TOPIC, partition_indexes=[0])]),
        74: ListConfigResourcesRequest(),
        75: DescribeTopicPartitionsRequest(topics=[TopicRequest(name=TOPIC)]),
    }


def group_requests(version: int, topic_id: bytes) -> dict[int, Entity]:
    group: dict[str, Any] = {"group_id": "every-version"}
    member: dict[str, Any] = {**group, "member_id": "nobody", "generation_id": 1}
    kept = OffsetCommitRequestPartition(partition_index=0, committed_offset=0)
    topic: dict[str, Any] = {"topic_id": topic_id} if version >= 10 else {"name": TOPIC}
    asked = OffsetFetchRequestTopics(**topic, partition_indexes=[0])
    fetched = OffsetFetchRequestGroup(**group, topics=[asked])
    left = (
        {"members": [MemberIdentity(member_id="nobody")]}
        if version >= 3
        else {"member_id": "nobody"}
    )
    key = {"coordinator_keys": ["g"]} if version >= 4 else {"key": "g"}
    return {
        8: OffsetCommitRequest(
            **group, topics=[OffsetCommitRequestTopic(**topic, partitions=[kept])]
        ),
        9: OffsetFetchRequest(groups=[fetched])
        if version >= 8
        else OffsetFetchRequest(
            **group, topics=[OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[0])]
        ),
        10: FindCoordinatorRequest(**key),
        11: JoinGroupRequest(
            **group,
            member_id="nobody",
            session_timeout_ms=10_000,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
        ),
        12: HeartbeatRequest(**member),
        13: LeaveGroupRequest(**group, **left),
        14: SyncGroupRequest(**member, protocol_type="consumer", protocol_name="range")
        if version >= 5
        else SyncGroupRequest(**member),
        15: DescribeGroupsRequest(groups=["every-version"]),
        16: ListGroupsRequest(),
        42: DeleteGroupsRequest(groups_names=["absent"]),
        45: AlterPartitionReassignmentsRequest(
            topics=[
                ReassignableTopic(
                    name=TOPIC, partitions=[ReassignablePartition(partition_index=0, replicas=[1])]
                )
            ]
        ),
        46: ListPartitionReassignmentsRequest(topics=None),
        47: OffsetDeleteRequest(group_id="absent"),
        68: ConsumerGroupHeartbeatRequest(
            group_id="every-version-new",
            member_id="me" if version >= 1 else "",
            member_epoch=0,
            rebalance_timeout_ms=10_000,
            subscribed_topic_names=[TOPIC],
            topic_partitions=[],
        ),
        69: ConsumerGroupDescribeRequest(group_ids=["absent"]),
    }


def transaction_requests(version: int) -> dict[int, Entity]:
    producer: dict[str, Any] = {
        "transactional_id": "absent",
        "producer_id": 1,
        "producer_epoch": 0,
    }
    added = AddPartitionsToTxnTopic(name=TOPIC, partitions=[0])
    kept = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=0)
    return {
        24: AddPartitionsToTxnRequest(
            transactions=[AddPartitionsToTxnTransaction(**producer, topics=[added])]
        )
        if version >= 4
        else AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="absent", v3_and_below_topics=[added]
        ),
        25: AddOffsetsToTxnRequest(**producer, group_id="every-version"),
        26: EndTxnRequest(**producer),
        27: WriteTxnMarkersRequest(
            markers=[
                WritableTxnMarker(
                    producer_id=1,
                    topics=[WritableTxnMarkerTopic(name="absent", partition_indexes=[0])],
                )
            ]
        ),
        28: TxnOffsetCommitRequest(
            **producer,
            group_id="every-version",
            topics=[TxnOffsetCommitRequestTopic(name=TOPIC, partitions=[kept])],
        ),
        65: DescribeTransactionsRequest(transactional_ids=["absent"]),
        66: ListTransactionsRequest(),
    }


def security_requests() -> dict[int, Entity]:
    return {
        17: SaslHandshakeRequest(mechanism="PLAIN"),
        29: DescribeAclsRequest(resource_type_filter=1, operation=1, permission_type=1),
        30: CreateAclsRequest(
            creations=[AclCreation(resource_type=2, operation=3, permission_type=3)]
        ),
        31: DeleteAclsRequest(
            filters=[DeleteAclsFilter(resource_type_filter=2, operation=1, permission_type=1)]
        ),
        36: SaslAuthenticateRequest(),
        38: CreateDelegationTokenRequest(),
        39: RenewDelegationTokenRequest(),
        40: ExpireDelegationTokenRequest(),
        41: DescribeDelegationTokenRequest(),
        48: DescribeClientQuotasRequest(),
        50: DescribeUserScramCredentialsRequest(users=[UserName(name="absent")]),
        51: AlterUserScramCredentialsRequest(
            deletions=[ScramCredentialDeletion(name="absent", mechanism=1)]
        ),
    }


EXPECTED_ERRORS = {
    24: {ErrorCode.INVALID_PRODUCER_ID_MAPPING},
    25: {ErrorCode.INVALID_PRODUCER_ID_MAPPING},
    26: {ErrorCode.INVALID_PRODUCER_ID_MAPPING},
    27: {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION},
    28: {ErrorCode.INVALID_PRODUCER_ID_MAPPING},
    65: {ErrorCode.TRANSACTIONAL_ID_NOT_FOUND},
    11: {ErrorCode.UNKNOWN_MEMBER_ID},
    12: {ErrorCode.UNKNOWN_MEMBER_ID},
    13: {ErrorCode.UNKNOWN_MEMBER_ID},
    14: {ErrorCode.UNKNOWN_MEMBER_ID},
    15: {ErrorCode.GROUP_ID_NOT_FOUND},
    42: {ErrorCode.GROUP_ID_NOT_FOUND},
    47: {ErrorCode.GROUP_ID_NOT_FOUND},
    69: {ErrorCode.GROUP_ID_NOT_FOUND},
    88: {ErrorCode.INVALID_REQUEST},
    89: {ErrorCode.GROUP_ID_NOT_FOUND},
    19: {ErrorCode.TOPIC_ALREADY_EXISTS},
    20: {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION},
    34: {ErrorCode.LOG_DIR_NOT_FOUND},
    37: {ErrorCode.INVALID_PARTITIONS},
    43: {ErrorCode.ELECTION_NOT_NEEDED},
    17: {ErrorCode.ILLEGAL_SASL_STATE},
    36: {ErrorCode.ILLEGAL_SASL_STATE},
    50: {ErrorCode.RESOURCE_NOT_FOUND},
    51: {ErrorCode.RESOURCE_NOT_FOUND},
    64: {ErrorCode.BROKER_ID_NOT_REGISTERED},
    **{key: {ErrorCode.UNSUPPORTED_VERSION} for key in (80, 81)},
    76: {ErrorCode.INVALID_REQUEST},
    79: {ErrorCode.INVALID_SHARE_SESSION_EPOCH},
    **{key: {ErrorCode.GROUP_ID_NOT_FOUND} for key in (77, 90, 92)},
    **{key: {ErrorCode.NOT_COORDINATOR} for key in range(83, 88)},
    **{key: {ErrorCode.SECURITY_DISABLED} for key in (29, 30, 31)},
    **{key: {ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED} for key in (38, 39, 40, 41)},
}


def error_codes(entity: Any) -> set[int]:
    """Every error code anywhere in a response."""
    codes = set()
    for name in entity.__slots__:
        value = getattr(entity, name)
        if name in ("error_code", "partition_error_code"):
            codes.add(value)
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Entity):
                codes |= error_codes(item)
    return codes


@pytest.fixture
def topic_id(penstock: Any) -> bytes:
    penstock.create_topic(TOPIC)
    request = MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)])
    topic_id: bytes = call(penstock.bootstrap_servers, request, 12).topics[0].topic_id
    return topic_id


def test_every_advertised_version_is_answered(penstock: Any, topic_id: bytes) -> None:
    advertised = call(penstock.bootstrap_servers, ApiVersionsRequest(), 0).api_keys
    assert {api.api_key for api in advertised} == set(BROKER_MODULES)
    for api in advertised:
        first = max(api.min_version, API_BY_KEY[api.api_key].min_version)
        for version in range(first, api.max_version + 1):
            request = requests(version, topic_id)[api.api_key]
            response = call(penstock.bootstrap_servers, request, version)
            unexpected = error_codes(response) - EXPECTED_ERRORS.get(api.api_key, set()) - {0}
            assert not unexpected, (API_BY_KEY[api.api_key].name, version, unexpected)


def test_a_newer_api_versions_request_is_answered_in_version_0(penstock: Any) -> None:
    host, port = penstock.bootstrap_servers.rsplit(":", 1)
    frame = bytearray(encode_request(7, 4, ApiVersionsRequest(), "test"))
    frame[6:8] = b"\x00\x63"
    with socket.create_connection((host, int(port)), timeout=60) as sock:
        sock.sendall(frame)
        size = unpack(">i", read_exactly(sock, 4))[0]
        _, response = decode_response(18, 0, read_exactly(sock, size))
    assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert any(api.api_key == 18 and api.max_version == 4 for api in response.api_keys)
