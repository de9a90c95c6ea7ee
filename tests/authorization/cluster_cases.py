"""The cluster as a whole."""

from __future__ import annotations

from penstock.protocol.entity import Entity
from penstock.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
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
from penstock.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from penstock.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from penstock.protocol.messages.describe_acls import DescribeAclsRequest
from penstock.protocol.messages.describe_client_quotas import DescribeClientQuotasRequest
from penstock.protocol.messages.describe_cluster import DescribeClusterRequest
from penstock.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from penstock.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    RequestPartitionData,
    RequestTopicData,
)
from penstock.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from penstock.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from penstock.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
)
from penstock.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from penstock.protocol.messages.unregister_broker import UnregisterBrokerRequest
from penstock.protocol.messages.update_features import UpdateFeaturesRequest
from tests.authorization.cases import TOPIC, Scene, case

TOPIC_TYPE, LITERAL, READ, ALLOW, ANY = 2, 3, 3, 3, 1


@case("api versions", 18)
def api_versions(scene: Scene) -> Entity:
    return ApiVersionsRequest(client_software_name="test", client_software_version="1")


@case("describe entries", 29)
def describe_acls(scene: Scene) -> Entity:
    return DescribeAclsRequest(
        resource_type_filter=ANY,
        resource_name_filter=None,
        pattern_type_filter=ANY,
        principal_filter="User:someone-else",
        host_filter=None,
        operation=ANY,
        permission_type=ANY,
    )


@case("create entries", 30)
def create_acls(scene: Scene) -> Entity:
    good = AclCreation(
        resource_type=TOPIC_TYPE,
        resource_name="elsewhere",
        principal="User:someone-else",
        host="*",
        operation=READ,
        permission_type=ALLOW,
    )
    bad = AclCreation(
        resource_type=4,
        resource_name="elsewhere",
        principal="User:someone-else",
        host="*",
        operation=READ,
        permission_type=ALLOW,
    )
    return CreateAclsRequest(creations=[good, bad])


@case("delete entries", 31)
def delete_acls(scene: Scene) -> Entity:
    return DeleteAclsRequest(
        filters=[
            DeleteAclsFilter(
                resource_type_filter=TOPIC_TYPE,
                resource_name_filter="nowhere",
                pattern_type_filter=ANY,
                principal_filter="User:nobody-at-all",
                host_filter=None,
                operation=ANY,
                permission_type=ANY,
            )
        ]
    )


@case("move to a directory", 34)
def alter_replica_log_dirs(scene: Scene) -> Entity:
    topics = [AlterReplicaLogDirTopic(name=TOPIC, partitions=[0])]
    return AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path="/absent", topics=topics)])


@case("describe directories", 35)
def describe_log_dirs(scene: Scene) -> Entity:
    return DescribeLogDirsRequest(topics=None)


@case("elect leaders", 43)
def elect_leaders(scene: Scene) -> Entity:
    topics = [TopicPartitions(topic=TOPIC, partitions=[0])]
    return ElectLeadersRequest(topic_partitions=topics, timeout_ms=20_000)


@case("reassign", 45)
def alter_reassignments(scene: Scene) -> Entity:
    partitions = [ReassignablePartition(partition_index=0, replicas=[99])]
    topics = [ReassignableTopic(name=TOPIC, partitions=partitions)]
    return AlterPartitionReassignmentsRequest(topics=topics, timeout_ms=20_000)


@case("list reassignments", 46)
def list_reassignments(scene: Scene) -> Entity:
    return ListPartitionReassignmentsRequest(topics=None, timeout_ms=20_000)


@case("describe quotas", 48)
def describe_quotas(scene: Scene) -> Entity:
    return DescribeClientQuotasRequest()


@case("alter quotas", 49)
def alter_quotas(scene: Scene) -> Entity:
    entry = RequestEntryData(
        entity=[RequestEntityData(entity_type="user", entity_name="someone-else")],
        ops=[OpData(key="producer_byte_rate", value=1024.0)],
    )
    return AlterClientQuotasRequest(entries=[entry], validate_only=True)


@case("describe credentials", 50)
def describe_scram(scene: Scene) -> Entity:
    return DescribeUserScramCredentialsRequest(users=[UserName(name="someone-else")])


@case("alter credentials", 51)
def alter_scram(scene: Scene) -> Entity:
    deletion = ScramCredentialDeletion(name="someone-else", mechanism=1)
    return AlterUserScramCredentialsRequest(deletions=[deletion])


@case("describe the quorum", 55)
def describe_quorum(scene: Scene) -> Entity:
    partitions = [RequestPartitionData(partition_index=0)]
    topics = [RequestTopicData(topic_name="__cluster_metadata", partitions=partitions)]
    return DescribeQuorumRequest(topics=topics)


@case("update features", 57)
def update_features(scene: Scene) -> Entity:
    return UpdateFeaturesRequest(timeout_ms=20_000)


@case("describe the cluster", 60)
def describe_cluster(scene: Scene) -> Entity:
    return DescribeClusterRequest(include_cluster_authorized_operations=True)


@case("unregister a broker", 64)
def unregister_broker(scene: Scene) -> Entity:
    return UnregisterBrokerRequest(broker_id=99)


@case("remove a voter", 81)
def remove_voter(scene: Scene) -> Entity:
    return RemoveRaftVoterRequest(voter_id=99, voter_directory_id=bytes(15) + b"\x09")
