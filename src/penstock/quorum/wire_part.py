"""What the messages of raft have in common on the wire: one partition, and the leader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from penstock.model.error import ApiError, ErrorCode
from penstock.raft import RaftEndpoint
from penstock.raft.message import CurrentLeader

TOPIC = "__cluster_metadata"
TOPIC_ID = bytes(15) + b"\x01"
NOBODY = -1

T = TypeVar("T")
NodeT = TypeVar("NodeT", covariant=True)


class NodeEndpoint(Protocol):
    node_id: int
    host: str
    port: int


class NodeMaker(Protocol[NodeT]):
    def __call__(self, *, node_id: int, host: str, port: int) -> NodeT: ...


def one_of(parts: Sequence[T]) -> T:
    """Raft speaks of one partition at a time."""
    if len(parts) != 1:
        raise ApiError(
            ErrorCode.INVALID_REQUEST, f"{len(parts)} entries where one partition is meant"
        )
    return parts[0]


def check_partition(topic: str | bytes, index: int) -> None:
    if topic not in (TOPIC, TOPIC_ID) or index != 0:
        raise ApiError(ErrorCode.INVALID_REQUEST, "not about the metadata partition")


def id_of(number: int) -> int | None:
    return number if number >= 0 else None


def number(node_id: int | None) -> int:
    return NOBODY if node_id is None else node_id


def error_of(code: int) -> ErrorCode:
    """Also of a code that this release does not know."""
    try:
        return ErrorCode(code)
    except ValueError:
        return ErrorCode.UNKNOWN_SERVER_ERROR


def raise_for(code: int) -> None:
    """An error of the request as a whole says nothing of the partition: it counts as no answer."""
    if code:
        raise ApiError(error_of(code))


def leader_of(
    leader_id: int, epoch: int, nodes: Iterable[NodeEndpoint], listener: str
) -> CurrentLeader:
    """`listener`: the one on which this node calls others, and so the one that was answered."""
    endpoints = [
        RaftEndpoint(listener, one.host, one.port) for one in nodes if one.node_id == leader_id
    ]
    return CurrentLeader(id_of(leader_id), epoch, tuple(endpoints[:1]))


def node_of(make: NodeMaker[T], leader: CurrentLeader, listener: str) -> list[T]:
    """Where the leader is, on the listener the request came in on. No entry where that is not
    known: whoever asked looks it up among the voters."""
    if leader.leader_id is None:
        return []
    endpoint = endpoint_on(leader.endpoints, listener)
    if endpoint is None:
        return []
    return [make(node_id=leader.leader_id, host=endpoint.host, port=endpoint.port)]


def endpoint_on(endpoints: Sequence[RaftEndpoint], listener: str) -> RaftEndpoint | None:
    return next((one for one in endpoints if one.listener.upper() == listener.upper()), None)
