"""One member of a classic group, as an immutable value: a change makes a new one."""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

from penstock.model.error import InvariantError
from penstock.protocol.messages.join_group import JoinGroupRequest

Protocols = tuple[tuple[str, bytes], ...]
"""Name and metadata of each assignor, the member's favourite first."""


class Member(NamedTuple):
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: Protocols
    assignment: bytes = b""
    is_new: bool = False
    """Parked in its first JoinGroup: it does not know its id and cannot heartbeat yet."""

    @property
    def is_static(self) -> bool:
        return self.instance_id is not None

    def metadata(self, protocol_name: str | None) -> bytes:
        for name, metadata in self.protocols:
            if name == protocol_name:
                return metadata
        raise InvariantError(f"member {self.member_id} lacks protocol {protocol_name}")

    def vote(self, candidates: Container[str]) -> str:
        for name, _ in self.protocols:
            if name in candidates:
                return name
        raise InvariantError(f"member {self.member_id} has none of the candidate protocols")


def protocols_of(request: JoinGroupRequest) -> Protocols:
    return tuple([(one.name, bytes(one.metadata)) for one in request.protocols])


def rebalance_timeout_of(request: JoinGroupRequest) -> int:
    """Version 0 has no such field: there the session timeout counts for both."""
    if request.rebalance_timeout_ms == -1:
        return request.session_timeout_ms
    return request.rebalance_timeout_ms
