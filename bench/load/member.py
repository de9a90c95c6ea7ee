"""A member of a classic group over one connection, as far as the coordinator can tell."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from bench.load.raw import RawClient
from penstock.protocol.frame import encode_request
from penstock.protocol.messages.heartbeat import HeartbeatRequest
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from penstock.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

JOIN, SYNC, HEARTBEAT, LEAVE = 9, 5, 4, 5
# Long enough that nobody is lost while thousands of others join.
SESSION_MS = 300_000
REBALANCE_MS = 300_000
MEMBER_ID_REQUIRED = 79
REBALANCE_IN_PROGRESS = 27
_ASSIGNOR = "range"


class Member(RawClient):
    def __init__(self, group: str, topic: str) -> None:
        super().__init__()
        self.group = group
        self.member_id = ""
        self.generation = -1
        self._topic = topic

    async def join(self) -> Any:
        """The answer with which a generation begins."""
        response = await self.call(JOIN, self.join_request())
        if response.error_code == MEMBER_ID_REQUIRED:
            self.member_id = response.member_id
            response = await self.call(JOIN, self.join_request())
        return self.joined(response)

    def joined(self, response: Any) -> Any:
        if response.error_code:
            raise RuntimeError(f"a join failed with error code {response.error_code}")
        self.member_id, self.generation = response.member_id, response.generation_id
        return response

    async def sync(self, joined: Any) -> int:
        return int((await self.call(SYNC, self.sync_request(joined.members))).error_code)

    def sync_request(self, members: Sequence[Any]) -> SyncGroupRequest:
        """The leader, who knows the members, assigns one partition to each."""
        assignments = [
            SyncGroupRequestAssignment(
                member_id=one.member_id, assignment=_assignment(self._topic, index)
            )
            for index, one in enumerate(members)
        ]
        return SyncGroupRequest(
            group_id=self.group,
            generation_id=self.generation,
            member_id=self.member_id,
            protocol_type="consumer",
            protocol_name=_ASSIGNOR,
            assignments=assignments,
        )

    async def heartbeat(self) -> int:
        return int((await self.call(HEARTBEAT, self._heartbeat())).error_code)

    def heartbeat_frame(self) -> bytes:
        return encode_request(0, HEARTBEAT, self._heartbeat(), "bench")

    async def leave(self) -> None:
        gone = [MemberIdentity(member_id=self.member_id)]
        response = await self.call(LEAVE, LeaveGroupRequest(group_id=self.group, members=gone))
        if response.error_code:
            raise RuntimeError(f"a leave failed with error code {response.error_code}")

    def join_request(self) -> JoinGroupRequest:
        subscription = struct.pack(">hi", 0, 1) + _string(self._topic) + struct.pack(">i", -1)
        return JoinGroupRequest(
            group_id=self.group,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=REBALANCE_MS,
            member_id=self.member_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name=_ASSIGNOR, metadata=subscription)],
        )

    def _heartbeat(self) -> HeartbeatRequest:
        return HeartbeatRequest(
            group_id=self.group, generation_id=self.generation, member_id=self.member_id
        )


def _assignment(topic: str, partition: int) -> bytes:
    """Version 0 of the consumers' own format, which the broker passes on unread."""
    head = struct.pack(">hi", 0, 1) + _string(topic)
    return head + struct.pack(">iii", 1, partition, -1)


def _string(value: str) -> bytes:
    raw = value.encode()
    return struct.pack(">h", len(raw)) + raw
