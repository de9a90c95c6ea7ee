"""What nodes say of their cluster: who leads, who is in sync, who is the active controller.

Asked over a plain socket, node by node, so that it is known who said what. Works with any broker
that speaks Kafka's protocol.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeVar

from penstock.model.error import ProtocolError
from penstock.model.id import TopicPartition
from penstock.protocol.entity import Entity
from penstock.protocol.frame import decode_response, encode_request
from penstock.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    RequestPartitionData,
    RequestTopicData,
)
from penstock.protocol.messages.metadata import MetadataRequest, MetadataResponse

_METADATA_TOPIC = "__cluster_metadata"
_METADATA_VERSION = 12
_QUORUM_VERSION = 2

Address = tuple[str, int]
T = TypeVar("T", bound=Entity)


class NodeSilentError(RuntimeError):
    """The node did not answer, or not as a node does."""


class PartitionView(NamedTuple):
    leader: int
    """-1 if there is none."""
    epoch: int
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]

    @property
    def is_whole(self) -> bool:
        return self.leader >= 0 and set(self.in_sync) == set(self.replicas)


class QuorumView(NamedTuple):
    leader: int
    epoch: int
    ends: Mapping[int, int]
    """The end of each voter's log, as its leader knows it."""


def call(address: Address, request: Entity, version: int, answer: type[T], timeout_s: float) -> T:
    key = request.API_KEY
    assert key is not None
    try:
        with socket.create_connection(address, timeout=timeout_s) as connection:
            connection.sendall(encode_request(1, version, request, "penstock-testing"))
            size = int.from_bytes(_receive(connection, 4), "big")
            _, body = decode_response(key, version, _receive(connection, size))
    except (OSError, ProtocolError) as error:
        raise NodeSilentError(f"{address[0]}:{address[1]} did not answer: {error}") from error
    assert isinstance(body, answer)
    return body


def _receive(connection: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        chunk = connection.recv(size - len(received))
        if not chunk:
            raise ProtocolError("it closed the connection")
        received += chunk
    return bytes(received)


def partitions(address: Address, timeout_s: float = 2.0) -> dict[TopicPartition, PartitionView]:
    """All partitions there are, in the eyes of one node."""
    request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
    answer = call(address, request, _METADATA_VERSION, MetadataResponse, timeout_s)
    return {
        TopicPartition(topic.name or "", each.partition_index): PartitionView(
            each.leader_id, each.leader_epoch, tuple(each.replica_nodes), tuple(each.isr_nodes)
        )
        for topic in answer.topics
        for each in topic.partitions
    }


def quorum(address: Address, timeout_s: float = 2.0) -> QuorumView:
    wanted = RequestTopicData(
        topic_name=_METADATA_TOPIC, partitions=[RequestPartitionData(partition_index=0)]
    )
    request = DescribeQuorumRequest(topics=[wanted])
    answer = call(address, request, _QUORUM_VERSION, DescribeQuorumResponse, timeout_s)
    for topic in answer.topics:
        for each in topic.partitions:
            if not each.error_code:
                ends = {voter.replica_id: voter.log_end_offset for voter in each.current_voters}
                return QuorumView(each.leader_id, each.leader_epoch, ends)
    raise NodeSilentError(f"{address[0]}:{address[1]} knows no active controller")


def newest_partition(
    addresses: Iterable[Address], partition: TopicPartition, timeout_s: float = 2.0
) -> PartitionView | None:
    """As the node sees it that knows of the latest election; None if nobody knows it."""
    found = None
    for address in addresses:
        try:
            seen = partitions(address, timeout_s).get(partition)
        except NodeSilentError:
            continue
        if seen is not None and (found is None or seen.epoch > found.epoch):
            found = seen
    return found


def newest_quorum(addresses: Iterable[Address], timeout_s: float = 2.0) -> QuorumView | None:
    found = None
    for address in addresses:
        try:
            seen = quorum(address, timeout_s)
        except NodeSilentError:
            continue
        if found is None or seen.epoch > found.epoch:
            found = seen
    return found
