"""Consumer groups: what the broker refuses."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.delete_groups import DeleteGroupsRequest
from penstock.protocol.messages.describe_groups import DescribeGroupsRequest
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.heartbeat import HeartbeatRequest
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from penstock.protocol.messages.list_groups import ListGroupsRequest
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
from penstock.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.conformance.clients.raw import Connection
from tests.conformance.clients.record import PATIENCE_SECONDS
from tests.conformance.conftest import Cluster
from tests.patience import wait_until

pytestmark = pytest.mark.client("raw requests")

GROUP_SIZE_MAX = 6  # as the suite starts its brokers
JOIN, SYNC, HEARTBEAT, LEAVE, COMMIT = 9, 5, 4, 5, 9


@dataclass
class Wire:
    """Raw requests on the group of one test."""

    cluster: Cluster
    group: str
    connections: list[Connection] = field(default_factory=list)

    def open(self) -> Connection:
        connection = Connection(self.cluster.bootstrap_servers)
        self.connections.append(connection)
        return connection

    def call(self, request: Entity, version: int) -> Any:
        if not self.connections:
            self.open()
        return self.connections[0].call(request, version)

    def join(self, member_id: str = "", **fields: Any) -> JoinGroupRequest:
        protocols = fields.pop("protocols", ("range",))
        given: dict[str, Any] = {
            "session_timeout_ms": 30_000,
            "rebalance_timeout_ms": 5_000,
            "protocol_type": "consumer",
        }
        return JoinGroupRequest(
            group_id=self.group,
            member_id=member_id,
            protocols=[
                JoinGroupRequestProtocol(name=name, metadata=b"\0\0\0\0\0\0\0\0\0\0")
                for name in protocols
            ],
            **given | fields,
        )

    def enter(self, version: int = JOIN, **fields: Any) -> Any:
        """Join with the id that the broker gives: the answer to the second request."""
        first = self.call(self.join(**fields), version)
        assert first.error_code == ErrorCode.MEMBER_ID_REQUIRED
        return self.call(self.join(first.member_id, **fields), version)

    def sync(self, member_id: str, generation: int, **fields: Any) -> Any:
        given: dict[str, Any] = {"protocol_type": "consumer", "protocol_name": "range"}
        request = SyncGroupRequest(
            group_id=self.group,
            member_id=member_id,
            generation_id=generation,
            assignments=[SyncGroupRequestAssignment(member_id=member_id, assignment=b"mine")],
            **given | fields,
        )
        return self.call(request, SYNC)

    def stable(self) -> tuple[str, int]:
        """One member with its assignment: its id and generation."""
        joined = self.enter()
        assert joined.error_code == ErrorCode.NONE
        synced = self.sync(joined.member_id, joined.generation_id)
        assert (synced.error_code, bytes(synced.assignment)) == (ErrorCode.NONE, b"mine")
        return joined.member_id, joined.generation_id

    def find_coordinator(self) -> int:
        request = FindCoordinatorRequest(coordinator_keys=[self.group])
        return int(self.call(request, 6).coordinators[0].error_code)

    def heartbeat(self, member_id: str, generation: int, **fields: Any) -> int:
        request = HeartbeatRequest(
            group_id=self.group, member_id=member_id, generation_id=generation, **fields
        )
        return int(self.call(request, HEARTBEAT).error_code)

    def commit(
        self, topic: str, member_id: str = "", generation: int = -1, partition: int = 0, **f: Any
    ) -> int:
        place = OffsetCommitRequestPartition(partition_index=partition, committed_offset=3, **f)
        request = OffsetCommitRequest(
            group_id=self.group,
            member_id=member_id,
            generation_id_or_member_epoch=generation,
            topics=[OffsetCommitRequestTopic(name=topic, partitions=[place])],
        )
        answer = self.call(request, COMMIT)
        return int(answer.topics[0].partitions[0].error_code)

    def committed(self, topic: str) -> tuple[int, int, int]:
        wanted = OffsetFetchRequestTopics(name=topic, partition_indexes=[0])
        group = OffsetFetchRequestGroup(group_id=self.group, topics=[wanted])
        answer = self.call(OffsetFetchRequest(groups=[group]), 9).groups[0]
        place = answer.topics[0].partitions[0]
        return place.committed_offset, place.committed_leader_epoch, place.error_code

    def close(self) -> None:
        for connection in self.connections:
            connection.close()


@pytest.fixture
def wire(cluster: Cluster, group_id: str) -> Iterator[Wire]:
    wire = Wire(cluster, group_id)
    # The first question of all has the internal topic made, which takes Kafka a moment.
    wait_until(lambda: wire.find_coordinator() == ErrorCode.NONE)
    wait_until(lambda: wire.heartbeat("nobody", 1) == ErrorCode.UNKNOWN_MEMBER_ID)
    yield wire
    wire.close()


@pytest.mark.feature("The coordinator of a group, at every version")
def test_find_coordinator(wire: Wire) -> None:
    for version in range(4):
        answer = wire.call(FindCoordinatorRequest(key=wire.group), version)
        assert answer.error_code == ErrorCode.NONE
        assert answer.node_id in wire.cluster.broker_ids
    for version in range(4, 7):
        keys = [wire.group, f"{wire.group}-2"]
        answer = wire.call(FindCoordinatorRequest(coordinator_keys=keys), version)
        assert [one.key for one in answer.coordinators] == keys
        assert {one.node_id for one in answer.coordinators} <= set(wire.cluster.broker_ids)


@pytest.mark.feature("A first join is given a member id (MEMBER_ID_REQUIRED), older versions join")
def test_member_id_required(wire: Wire) -> None:
    answer = wire.call(wire.join(), JOIN)
    assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED
    assert answer.member_id.startswith("raw-")
    answer = wire.call(wire.join(), 3)
    assert (answer.error_code, answer.generation_id) == (ErrorCode.NONE, 1)
    assert answer.leader == answer.member_id
    assert answer.protocol_name == "range"


@pytest.mark.feature("Session timeouts out of bounds (INVALID_SESSION_TIMEOUT)")
@pytest.mark.parametrize("session_ms", [5_999, 1_800_001])
def test_session_timeout(wire: Wire, session_ms: int) -> None:
    answer = wire.call(wire.join(session_timeout_ms=session_ms), JOIN)
    assert answer.error_code == ErrorCode.INVALID_SESSION_TIMEOUT


@pytest.mark.feature("A group without a name (INVALID_GROUP_ID)")
def test_no_group_id(wire: Wire, topic: str) -> None:
    wire.group = ""
    assert wire.call(wire.join(), JOIN).error_code == ErrorCode.INVALID_GROUP_ID
    assert wire.sync("m", 1).error_code == ErrorCode.INVALID_GROUP_ID
    assert wire.heartbeat("m", 1) == ErrorCode.INVALID_GROUP_ID
    leaving = LeaveGroupRequest(group_id="", members=[MemberIdentity(member_id="m")])
    assert wire.call(leaving, LEAVE).error_code == ErrorCode.INVALID_GROUP_ID


@pytest.mark.feature("No protocol, another protocol, another type (INCONSISTENT_GROUP_PROTOCOL)")
def test_protocols(wire: Wire) -> None:
    def refused(**fields: Any) -> int:
        return int(wire.call(wire.join(**fields), JOIN).error_code)

    assert refused(protocols=()) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert refused(protocol_type="") == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    member_id, generation = wire.stable()
    assert refused(protocols=("sticky",)) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert refused(protocol_type="connect") == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    sync = wire.sync(member_id, generation, protocol_name="sticky")
    assert sync.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    sync = wire.sync(member_id, generation, protocol_type="connect")
    assert sync.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert wire.heartbeat(member_id, generation) == ErrorCode.NONE


@pytest.mark.feature("Members the group does not know (UNKNOWN_MEMBER_ID)")
def test_unknown_member(wire: Wire, topic: str) -> None:
    # No group at all, then a group with another member.
    for _ in range(2):
        assert wire.call(wire.join("nobody"), JOIN).error_code == ErrorCode.UNKNOWN_MEMBER_ID
        assert wire.sync("nobody", 1).error_code == ErrorCode.UNKNOWN_MEMBER_ID
        assert wire.heartbeat("nobody", 1) == ErrorCode.UNKNOWN_MEMBER_ID
        leaving = LeaveGroupRequest(
            group_id=wire.group, members=[MemberIdentity(member_id="nobody")]
        )
        answer = wire.call(leaving, LEAVE)
        assert answer.error_code == ErrorCode.NONE
        assert answer.members[0].error_code == ErrorCode.UNKNOWN_MEMBER_ID
        old = wire.call(LeaveGroupRequest(group_id=wire.group, member_id="nobody"), 2)
        assert old.error_code == ErrorCode.UNKNOWN_MEMBER_ID
        joined = wire.enter()
    assert joined.error_code == ErrorCode.NONE
    assert wire.commit(topic, "nobody", 1) == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.feature("A member's commit for a group there is not (GROUP_ID_NOT_FOUND)")
def test_commit_to_no_group(wire: Wire, topic: str) -> None:
    assert wire.commit(topic, "nobody", 1) == ErrorCode.GROUP_ID_NOT_FOUND
    assert wire.committed(topic) == (-1, -1, ErrorCode.NONE)


@pytest.mark.feature("Another generation (ILLEGAL_GENERATION)")
@pytest.mark.parametrize("shift", [-1, 1])
def test_generation(wire: Wire, topic: str, shift: int) -> None:
    member_id, generation = wire.stable()
    wrong = generation + shift
    assert wire.heartbeat(member_id, wrong) == ErrorCode.ILLEGAL_GENERATION
    assert wire.sync(member_id, wrong).error_code == ErrorCode.ILLEGAL_GENERATION
    assert wire.commit(topic, member_id, wrong) == ErrorCode.ILLEGAL_GENERATION
    assert wire.commit(topic, member_id, generation) == ErrorCode.NONE


@pytest.mark.feature("Commits without membership in a group that has members (UNKNOWN_MEMBER_ID)")
def test_commit_beside_members(wire: Wire, topic: str) -> None:
    assert wire.commit(topic) == ErrorCode.NONE
    member_id, generation = wire.stable()
    assert wire.commit(topic) == ErrorCode.UNKNOWN_MEMBER_ID
    leaving = LeaveGroupRequest(group_id=wire.group, members=[MemberIdentity(member_id=member_id)])
    assert wire.call(leaving, LEAVE).members[0].error_code == ErrorCode.NONE
    assert wire.commit(topic) == ErrorCode.NONE
    assert wire.commit(topic, member_id, generation) == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.feature("Commits between join and sync (REBALANCE_IN_PROGRESS)")
def test_commit_before_sync(wire: Wire, topic: str) -> None:
    joined = wire.enter()
    code = wire.commit(topic, joined.member_id, joined.generation_id)
    assert code == ErrorCode.REBALANCE_IN_PROGRESS


@pytest.mark.feature("Commits for a topic or partition there is not (UNKNOWN_TOPIC_OR_PARTITION)")
def test_commit_unknown(wire: Wire, topic: str, topic_name: str) -> None:
    assert wire.commit(topic_name) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert wire.commit(topic, partition=5) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.feature("The leader epoch of an offset is kept")
def test_leader_epoch(wire: Wire, topic: str) -> None:
    assert wire.commit(topic, committed_leader_epoch=7) == ErrorCode.NONE
    assert wire.committed(topic) == (3, 7, ErrorCode.NONE)


@pytest.mark.feature("Metadata without text, and longer than allowed")
def test_metadata(wire: Wire, topic: str) -> None:
    assert wire.commit(topic, committed_metadata=None) == ErrorCode.NONE
    code = wire.commit(topic, committed_metadata="x" * 4097)
    assert code == ErrorCode.OFFSET_METADATA_TOO_LARGE


@pytest.mark.feature("A member while others rejoin hears of it (REBALANCE_IN_PROGRESS)")
def test_rebalance_in_progress(wire: Wire, topic: str) -> None:
    member_id, generation = wire.stable()
    newcomer = wire.open()
    first = newcomer.call(wire.join(), JOIN)
    waiting = newcomer.start(wire.join(first.member_id), JOIN)
    deadline_codes = {wire.heartbeat(member_id, generation) for _ in range(200)}
    assert ErrorCode.REBALANCE_IN_PROGRESS in deadline_codes
    assert wire.sync(member_id, generation).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert wire.commit(topic, member_id, generation) == ErrorCode.NONE
    rejoined = wire.call(wire.join(member_id), JOIN)
    other = waiting.result(PATIENCE_SECONDS)
    assert rejoined.generation_id == other.generation_id == generation + 1
    assert rejoined.leader == other.leader == member_id
    assert {one.member_id for one in rejoined.members} == {member_id, other.member_id}
    assert other.members == []


def assemble(wire: Wire, connections: list[Connection]) -> None:
    """Join again and again until all are in one generation."""
    ids = [one.call(wire.join(), JOIN).member_id for one in connections]

    def start(index: int) -> Future[Any]:
        return connections[index].start(wire.join(ids[index], rebalance_timeout_ms=30_000), JOIN)

    waiting = [start(index) for index in range(len(ids))]
    for _ in range(2_000):
        for index, future in enumerate(waiting):
            if future.done():
                answer = future.result()
                assert answer.error_code == ErrorCode.NONE
                if len(answer.members) == len(ids):
                    return
                waiting[index] = start(index)
        time.sleep(0.01)
    pytest.fail("they did not come together")


@pytest.mark.feature("A group that is full (GROUP_MAX_SIZE_REACHED)")
def test_group_size(wire: Wire) -> None:
    assemble(wire, [wire.open() for _ in range(GROUP_SIZE_MAX)])
    assert wire.call(wire.join(), JOIN).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED


@pytest.mark.feature("A static member's old id is fenced (FENCED_INSTANCE_ID)")
def test_fenced(wire: Wire, topic: str) -> None:
    joined = wire.call(wire.join(group_instance_id="one"), JOIN)
    assert joined.error_code == ErrorCode.NONE
    old, generation = joined.member_id, joined.generation_id
    assert wire.sync(old, generation, group_instance_id="one").error_code == ErrorCode.NONE
    again = wire.call(wire.join(group_instance_id="one"), JOIN)
    assert (again.error_code, again.generation_id) == (ErrorCode.NONE, generation)
    assert again.skip_assignment and again.member_id != old
    fenced = ErrorCode.FENCED_INSTANCE_ID
    assert wire.heartbeat(old, generation, group_instance_id="one") == fenced
    assert wire.sync(old, generation, group_instance_id="one").error_code == fenced
    assert wire.call(wire.join(old, group_instance_id="one"), JOIN).error_code == fenced
    identity = MemberIdentity(member_id=old, group_instance_id="one")
    leaving = LeaveGroupRequest(group_id=wire.group, members=[identity])
    assert wire.call(leaving, LEAVE).members[0].error_code == fenced
    # An instance id that the group does not know.
    unknown = wire.heartbeat(again.member_id, generation, group_instance_id="two")
    assert unknown == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.feature("Describe a group there is not, at every version")
def test_describe_nothing(wire: Wire) -> None:
    for version in range(7):
        described = wire.call(DescribeGroupsRequest(groups=[wire.group]), version).groups[0]
        missing = ErrorCode.GROUP_ID_NOT_FOUND if version >= 6 else ErrorCode.NONE
        assert (described.group_state, described.error_code) == ("Dead", missing)
        if version >= 6:
            assert described.error_message == f"Group {wire.group} not found."


@pytest.mark.feature("Delete a group there is not, or that has members")
def test_delete_refused(wire: Wire) -> None:
    def delete() -> int:
        answer = wire.call(DeleteGroupsRequest(groups_names=[wire.group]), 2)
        return int(answer.results[0].error_code)

    assert delete() == ErrorCode.GROUP_ID_NOT_FOUND
    wire.stable()
    assert delete() == ErrorCode.NON_EMPTY_GROUP


@pytest.mark.feature("Delete offsets: no such group, no such topic, nothing there")
def test_delete_offsets_refused(wire: Wire, topic: str, topic_name: str) -> None:
    def delete(name: str, partition: int = 0) -> tuple[int, list[int]]:
        place = OffsetDeleteRequestPartition(partition_index=partition)
        topics = [OffsetDeleteRequestTopic(name=name, partitions=[place])]
        answer = wire.call(OffsetDeleteRequest(group_id=wire.group, topics=topics), 0)
        codes = [one.error_code for found in answer.topics for one in found.partitions]
        return answer.error_code, codes

    assert delete(topic) == (ErrorCode.GROUP_ID_NOT_FOUND, [])
    assert wire.commit(topic) == ErrorCode.NONE
    assert delete(topic_name) == (0, [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION])
    assert delete(topic, 5) == (0, [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION])
    assert delete(topic) == (0, [0])
    assert wire.committed(topic) == (-1, -1, ErrorCode.NONE)


@pytest.mark.feature("List groups by state and type, at every version")
def test_list(wire: Wire) -> None:
    wire.stable()
    for version in range(6):
        answer = wire.call(ListGroupsRequest(), version)
        (found,) = [one for one in answer.groups if one.group_id == wire.group]
        state, kind = "Stable" if version >= 4 else "", "classic" if version >= 5 else ""
        assert (found.protocol_type, found.group_state, found.group_type) == (
            "consumer",
            state,
            kind,
        )

    def listed(**filters: Any) -> bool:
        answer = wire.call(ListGroupsRequest(**filters), 5)
        return wire.group in {one.group_id for one in answer.groups}

    assert listed(states_filter=["Stable"], types_filter=["classic"])
    assert listed(states_filter=["stable"], types_filter=["Classic"])
    assert not listed(states_filter=["Empty"])
    assert not listed(types_filter=["consumer"])


@pytest.mark.feature("Offsets of several groups at once, and all of a group, at every version")
def test_offset_fetch(wire: Wire, make_topic: Callable[..., str]) -> None:
    topic = make_topic(2)
    assert wire.commit(topic, partition=1) == ErrorCode.NONE
    for version in range(2, 8):
        answer = wire.call(OffsetFetchRequest(group_id=wire.group, topics=None), version)
        (found,) = answer.topics
        assert [(one.partition_index, one.committed_offset) for one in found.partitions] == [(1, 3)]
    for version in (8, 9):
        groups = [
            OffsetFetchRequestGroup(group_id=name, topics=None)
            for name in (wire.group, f"{wire.group}-none")
        ]
        one, none = wire.call(OffsetFetchRequest(groups=groups), version).groups
        assert [place.committed_offset for place in one.topics[0].partitions] == [3]
        assert (none.error_code, none.topics) == (ErrorCode.NONE, [])
