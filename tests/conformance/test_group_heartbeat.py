"""Consumer groups: what the broker refuses in the new protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest

from penstock.model.error import ErrorCode
from penstock.model.id import ZERO_ID
from penstock.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from penstock.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    RequestTopicPartitions,
)
from penstock.protocol.messages.delete_groups import DeleteGroupsRequest
from penstock.protocol.messages.describe_groups import DescribeGroupsRequest
from penstock.protocol.messages.heartbeat import HeartbeatRequest
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from penstock.protocol.messages.list_groups import ListGroupsRequest
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from penstock.protocol.messages.sync_group import SyncGroupRequest
from tests.conformance.clients.raw import Connection
from tests.conformance.conftest import Cluster
from tests.patience import wait_until

pytestmark = pytest.mark.client("raw requests")

MakeTopic = Callable[..., str]
GROUP_SIZE_MAX = 6  # as the suite starts its brokers
HEARTBEAT = 1
LEAVE, LEAVE_STATIC = -1, -2


@dataclass
class Wire:
    """Raw requests on the group of one test."""

    connection: Connection
    group: str
    topic: str

    def call(self, request: Any, version: int) -> Any:
        return self.connection.call(request, version)

    def topic_id(self) -> bytes:
        request = MetadataRequest(topics=[MetadataRequestTopic(name=self.topic)])
        return bytes(self.call(request, 12).topics[0].topic_id)

    def beat(self, member: str, epoch: int, **fields: Any) -> Any:
        version = fields.pop("version", HEARTBEAT)
        given = {"group_id": self.group, "member_id": member, "member_epoch": epoch}
        return self.call(ConsumerGroupHeartbeatRequest(**given | fields), version)

    def join(self, member: str | None = None, **fields: Any) -> Any:
        given: dict[str, Any] = {
            "rebalance_timeout_ms": 5_000,
            "subscribed_topic_names": [self.topic],
            "topic_partitions": [],
        }
        return self.beat(str(uuid4()) if member is None else member, 0, **given | fields)

    def stable(self, **fields: Any) -> tuple[str, int]:
        """One member that has its partitions and has said so: its id and epoch."""
        joined = self.join(**fields)
        assert joined.error_code == ErrorCode.NONE, joined
        member, epoch = joined.member_id, joined.member_epoch
        found: list[Any] = [joined.assignment]

        def assigned() -> bool:
            if found[-1] is not None and found[-1].topic_partitions:
                return True
            found.append(self.beat(member, epoch).assignment)
            return False

        wait_until(assigned)
        owned = [
            RequestTopicPartitions(topic_id=one.topic_id, partitions=list(one.partitions))
            for one in found[-1].topic_partitions
        ]
        answer = self.beat(member, epoch, topic_partitions=owned)
        assert answer.error_code == ErrorCode.NONE
        return member, answer.member_epoch

    def commit(self, member: str = "", epoch: int = -1, *, version: int = 9, **topic: Any) -> int:
        place = OffsetCommitRequestPartition(partition_index=0, committed_offset=3)
        named = topic or {"name": self.topic}
        request = OffsetCommitRequest(
            group_id=self.group,
            member_id=member,
            generation_id_or_member_epoch=epoch,
            topics=[OffsetCommitRequestTopic(partitions=[place], **named)],
        )
        return int(self.call(request, version).topics[0].partitions[0].error_code)

    def committed(
        self, member: str | None = None, epoch: int = -1, *, version: int = 9, **topic: Any
    ) -> tuple[int, int]:
        """The error, of the group or else of the partition, and the offset."""
        named = topic or {"name": self.topic}
        wanted = OffsetFetchRequestTopics(partition_indexes=[0], **named)
        group = OffsetFetchRequestGroup(
            group_id=self.group, member_id=member, member_epoch=epoch, topics=[wanted]
        )
        answer = self.call(OffsetFetchRequest(groups=[group]), version).groups[0]
        if answer.error_code:
            return int(answer.error_code), -1
        place = answer.topics[0].partitions[0]
        return int(place.error_code), int(place.committed_offset)

    def describe(self) -> Any:
        return self.call(ConsumerGroupDescribeRequest(group_ids=[self.group]), 1).groups[0]

    def classic_join(self, member: str = "", **fields: Any) -> Any:
        protocol = JoinGroupRequestProtocol(name="range", metadata=b"\0\0\0\0\0\0\0\0\0\0")
        given: dict[str, Any] = {"protocols": [protocol], "protocol_type": "consumer"}
        request = JoinGroupRequest(
            group_id=self.group,
            member_id=member,
            session_timeout_ms=30_000,
            rebalance_timeout_ms=5_000,
            **given | fields,
        )
        return self.call(request, 9)


@pytest.fixture
def wire(cluster: Cluster, group_id: str, make_topic: MakeTopic) -> Iterator[Wire]:
    connection = Connection(cluster.bootstrap_servers)
    yield Wire(connection, group_id, make_topic(2))
    connection.close()


@pytest.mark.feature("Heartbeats that lack something, or say too much (INVALID_REQUEST)")
def test_invalid(wire: Wire) -> None:
    found = {
        "no group": wire.join(group_id="").error_code,
        "no member id": wire.join("").error_code,
        "no timeout": wire.join(rebalance_timeout_ms=-1).error_code,
        "no partitions": wire.join(topic_partitions=None).error_code,
        "no subscription": wire.join(subscribed_topic_names=None).error_code,
        "empty instance": wire.join(instance_id="").error_code,
        "empty rack": wire.join(rack_id="").error_code,
        "empty assignor": wire.join(server_assignor="").error_code,
        "epoch -3": wire.beat("m", -3).error_code,
        "static leave without a name": wire.beat("m", LEAVE_STATIC).error_code,
        "member id of version 0": wire.join("", version=0).error_code,
    }
    wanted: dict[str, int] = dict.fromkeys(found, ErrorCode.INVALID_REQUEST)
    assert found == wanted | {
        "empty assignor": ErrorCode.UNSUPPORTED_ASSIGNOR,
        "member id of version 0": ErrorCode.NONE,
    }


@pytest.mark.feature("Heartbeats with what is not there: assignor, pattern, owned partitions")
def test_unsupported(wire: Wire) -> None:
    answer = wire.join(server_assignor="guesswork")
    assert answer.error_code == ErrorCode.UNSUPPORTED_ASSIGNOR
    assert "guesswork" in answer.error_message
    answer = wire.join(subscribed_topic_names=None, subscribed_topic_regex="a(b")
    assert answer.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
    owned = RequestTopicPartitions(topic_id=wire.topic_id(), partitions=[0])
    assert wire.join(topic_partitions=[owned]).error_code == ErrorCode.INVALID_REQUEST
    assert wire.describe().error_code == ErrorCode.GROUP_ID_NOT_FOUND


@pytest.mark.feature("A group there is not, a member it does not know (UNKNOWN_MEMBER_ID)")
def test_unknown_member(wire: Wire) -> None:
    assert wire.beat("nobody", 1).error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert wire.beat("nobody", LEAVE).error_code == ErrorCode.GROUP_ID_NOT_FOUND
    member, epoch = wire.stable()
    assert wire.beat("nobody", epoch).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert wire.beat("nobody", LEAVE).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert wire.commit("nobody", epoch) == ErrorCode.UNKNOWN_MEMBER_ID
    assert wire.committed("nobody", epoch)[0] == ErrorCode.UNKNOWN_MEMBER_ID
    assert wire.beat(member, epoch).error_code == ErrorCode.NONE


@pytest.mark.feature("Another epoch (FENCED_MEMBER_EPOCH, STALE_MEMBER_EPOCH)")
def test_epochs(wire: Wire) -> None:
    member, epoch = wire.stable()
    assert wire.beat(member, epoch + 1).error_code == ErrorCode.FENCED_MEMBER_EPOCH
    for wrong in (epoch + 1, epoch + 100):
        assert wire.commit(member, wrong) == ErrorCode.STALE_MEMBER_EPOCH
        assert wire.committed(member, wrong)[0] == ErrorCode.STALE_MEMBER_EPOCH
    # Versions that know no member epochs.
    assert wire.commit(member, epoch, version=8) == ErrorCode.UNSUPPORTED_VERSION
    assert wire.commit(member, epoch) == ErrorCode.NONE
    assert wire.committed(member, epoch) == (ErrorCode.NONE, 3)
    assert wire.committed() == (ErrorCode.NONE, 3)
    # A second member raises the epoch: the first hears of it, or is fenced with the old one.
    second = wire.join()
    assert second.error_code == ErrorCode.NONE
    wait_until(lambda: wire.beat(member, epoch, topic_partitions=[]).member_epoch > epoch)
    assert wire.commit(member, epoch - 1) == ErrorCode.STALE_MEMBER_EPOCH


@pytest.mark.feature("Commits without membership in a group that has members (UNKNOWN_MEMBER_ID)")
def test_commit_beside_members(wire: Wire) -> None:
    assert wire.commit() == ErrorCode.NONE
    member, epoch = wire.stable()
    assert wire.commit() == ErrorCode.UNKNOWN_MEMBER_ID
    assert wire.beat(member, LEAVE).member_epoch == LEAVE
    assert wire.commit() == ErrorCode.NONE
    assert wire.commit(member, epoch) == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.feature("A group that is full (GROUP_MAX_SIZE_REACHED)")
def test_group_size(wire: Wire) -> None:
    members = [wire.join() for _ in range(GROUP_SIZE_MAX)]
    assert {one.error_code for one in members} == {ErrorCode.NONE}
    assert wire.join().error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert wire.beat(members[0].member_id, LEAVE).error_code == ErrorCode.NONE
    assert wire.join().error_code == ErrorCode.NONE


@pytest.mark.feature("Static members: in use, let go, fenced (FENCED_INSTANCE_ID)")
def test_static(wire: Wire) -> None:
    member, epoch = wire.stable(instance_id="one")
    again = wire.join(instance_id="one")
    assert again.error_code == ErrorCode.UNRELEASED_INSTANCE_ID
    assert wire.beat("other", epoch, instance_id="one").error_code == ErrorCode.FENCED_INSTANCE_ID
    unknown = wire.beat("other", epoch, instance_id="two")
    assert unknown.error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert wire.beat(member, LEAVE_STATIC, instance_id="one").member_epoch == LEAVE_STATIC
    again = wire.join(instance_id="one")
    assert (again.error_code, again.member_epoch) == (ErrorCode.NONE, epoch)
    assert sorted(again.assignment.topic_partitions[0].partitions) == [0, 1]
    fenced = wire.beat(member, epoch, instance_id="one")
    assert fenced.error_code == ErrorCode.FENCED_INSTANCE_ID


@pytest.mark.feature("Classic requests of members of the new protocol")
def test_classic_requests(wire: Wire) -> None:
    member, epoch = wire.stable()
    beat = HeartbeatRequest(group_id=wire.group, member_id=member, generation_id=epoch)
    sync = SyncGroupRequest(group_id=wire.group, member_id=member, generation_id=epoch)
    leave = LeaveGroupRequest(group_id=wire.group, members=[MemberIdentity(member_id="nobody")])
    connect = wire.classic_join(protocol_type="connect")
    found = {
        "heartbeat": wire.call(beat, 4).error_code,
        "sync": wire.call(sync, 5).error_code,
        "leave of nobody": wire.call(leave, 5).members[0].error_code,
        "join by another type": connect.error_code,
        "first join": wire.classic_join().error_code,
    }
    assert found == {
        "heartbeat": ErrorCode.UNKNOWN_MEMBER_ID,
        "sync": ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
        "leave of nobody": ErrorCode.UNKNOWN_MEMBER_ID,
        "join by another type": ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
        "first join": ErrorCode.MEMBER_ID_REQUIRED,
    }
    assert wire.beat(member, epoch).error_code == ErrorCode.NONE


@pytest.mark.feature("Describe and list, by requests for the one and the other protocol")
def test_describe(wire: Wire) -> None:
    missing = wire.describe()
    assert missing.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert missing.error_message == f"Group {wire.group} not found."
    member, epoch = wire.stable(instance_id="one", server_assignor="range", rack_id="here")
    group = wire.describe()
    assert (group.error_code, group.group_state, group.assignor_name) == (0, "Stable", "range")
    assert (group.group_epoch, group.assignment_epoch) == (epoch, epoch)
    (one,) = group.members
    assert (one.member_id, one.member_epoch, one.instance_id) == (member, epoch, "one")
    assert (one.rack_id, one.client_id, one.client_host) == ("here", "raw", "/127.0.0.1")
    assert (list(one.subscribed_topic_names), one.member_type) == ([wire.topic], 1)
    for held in (one.assignment, one.target_assignment):
        (place,) = held.topic_partitions
        assert (place.topic_name, sorted(place.partitions)) == (wire.topic, [0, 1])
    classic = wire.call(DescribeGroupsRequest(groups=[wire.group]), 6).groups[0]
    assert (classic.error_code, classic.group_state) == (ErrorCode.GROUP_ID_NOT_FOUND, "Dead")
    assert classic.error_message == f"Group {wire.group} is not a classic group."
    listed = wire.call(ListGroupsRequest(types_filter=["consumer"]), 5).groups
    (found,) = [one for one in listed if one.group_id == wire.group]
    assert (found.protocol_type, found.group_state, found.group_type) == (
        "consumer",
        "Stable",
        "consumer",
    )


@pytest.mark.feature("A classic group is none of the new protocol until a member of that joins")
def test_describe_classic(wire: Wire) -> None:
    first = wire.classic_join()
    assert wire.classic_join(first.member_id).error_code == ErrorCode.NONE
    answer = wire.describe()
    assert answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert answer.error_message == f"Group {wire.group} is not a consumer group."
    assert wire.beat("nobody", 1).error_code == ErrorCode.GROUP_ID_NOT_FOUND


@pytest.mark.feature("Delete: the group while it has members, offsets of a topic that is read")
def test_delete_refused(wire: Wire) -> None:
    def delete() -> int:
        answer = wire.call(DeleteGroupsRequest(groups_names=[wire.group]), 2)
        return int(answer.results[0].error_code)

    member, epoch = wire.stable()
    assert wire.commit(member, epoch) == ErrorCode.NONE
    assert delete() == ErrorCode.NON_EMPTY_GROUP
    place = OffsetDeleteRequestPartition(partition_index=0)
    topics = [OffsetDeleteRequestTopic(name=wire.topic, partitions=[place])]
    request = OffsetDeleteRequest(group_id=wire.group, topics=topics)
    answer = wire.call(request, 0).topics[0].partitions[0]
    assert answer.error_code == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    wire.beat(member, LEAVE)
    assert wire.describe().group_state == "Empty"
    assert delete() == ErrorCode.NONE
    assert wire.describe().error_code == ErrorCode.GROUP_ID_NOT_FOUND


@pytest.mark.feature("Offsets by topic id (version 10), known and unknown (UNKNOWN_TOPIC_ID)")
def test_topic_ids(wire: Wire) -> None:
    known, unknown = {"topic_id": wire.topic_id()}, {"topic_id": uuid4().bytes}
    assert wire.commit(version=10, **known) == ErrorCode.NONE
    assert wire.commit(version=10, **unknown) == ErrorCode.UNKNOWN_TOPIC_ID
    assert wire.commit(version=10, topic_id=ZERO_ID) == ErrorCode.UNKNOWN_TOPIC_ID
    assert wire.committed(version=10, **known) == (ErrorCode.NONE, 3)
    assert wire.committed(version=10, **unknown)[0] == ErrorCode.UNKNOWN_TOPIC_ID
    group = OffsetFetchRequestGroup(group_id=wire.group, topics=None)
    (found,) = wire.call(OffsetFetchRequest(groups=[group]), 10).groups[0].topics
    assert (bytes(found.topic_id), found.partitions[0].committed_offset) == (known["topic_id"], 3)
    # As a member, too.
    member, epoch = wire.stable()
    assert wire.commit(member, epoch, version=10, **known) == ErrorCode.NONE
    assert wire.commit(member, epoch + 1, version=10, **known) == ErrorCode.STALE_MEMBER_EPOCH
    assert wire.committed(member, epoch, version=10, **known) == (ErrorCode.NONE, 3)
