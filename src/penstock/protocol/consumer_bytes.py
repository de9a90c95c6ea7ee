"""What consumers of the classic protocol put into their opaque bytes: subscriptions and
assignments, each with its version in front."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.model.error import ProtocolError
from penstock.protocol.codec import decode, encode
from penstock.protocol.messages.records.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
    TopicPartition,
)
from penstock.protocol.messages.records.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
)

_VERSION_BYTES = 2


def decode_subscription(data: bytes) -> ConsumerProtocolSubscription:
    version = _known_version(data, ConsumerProtocolSubscription.VERSIONS)
    subscription, _ = decode(ConsumerProtocolSubscription, version, data, _VERSION_BYTES)
    return subscription


def decode_assignment(data: bytes) -> ConsumerProtocolAssignment:
    """A member that was given nothing yet has no bytes at all."""
    if not data:
        return ConsumerProtocolAssignment()
    version = _known_version(data, ConsumerProtocolAssignment.VERSIONS)
    assignment, _ = decode(ConsumerProtocolAssignment, version, data, _VERSION_BYTES)
    return assignment


def encode_assignment(partitions: Mapping[str, list[int]], like: bytes) -> bytes:
    """In the version of the subscription that the member sent."""
    version = _known_version(like, ConsumerProtocolAssignment.VERSIONS)
    assignment = ConsumerProtocolAssignment(
        assigned_partitions=[
            TopicPartition(topic=name, partitions=found) for name, found in partitions.items()
        ]
    )
    return version.to_bytes(_VERSION_BYTES, "big") + encode(assignment, version)


def _known_version(data: bytes, versions: tuple[int, int]) -> int:
    """Later versions begin like the last one known here."""
    if len(data) < _VERSION_BYTES:
        raise ProtocolError("a consumer's bytes without a version")
    version = int.from_bytes(data[:_VERSION_BYTES], "big", signed=True)
    if version < versions[0]:
        raise ProtocolError(f"version {version} of a consumer's bytes")
    return min(version, versions[1])
