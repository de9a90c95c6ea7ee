"""Which of several brokers a raw request is for, as every client has to find out.

The broker at the first address is asked who coordinates and who leads; what is nobody's in
particular goes to it as well. Nothing is remembered: coordinators and leaders move.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from penstock.metadata.config import ResourceType
from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.conformance.clients.record import PATIENCE_SECONDS

Ask = Callable[[Entity, int], Any]
GROUP, TRANSACTION = 0, 1
_OF_GROUPS = {
    "OffsetCommit",
    "OffsetFetch",
    "JoinGroup",
    "SyncGroup",
    "Heartbeat",
    "LeaveGroup",
    "DescribeGroups",
    "DeleteGroups",
    "TxnOffsetCommit",
    "OffsetDelete",
    "ConsumerGroupHeartbeat",
    "ConsumerGroupDescribe",
    "ShareGroupHeartbeat",
    "ShareGroupDescribe",
}
_OF_TRANSACTIONS = {
    "InitProducerId",
    "AddPartitionsToTxn",
    "AddOffsetsToTxn",
    "EndTxn",
    "DescribeTransactions",
}
_OF_LEADERS = {
    "Produce",
    "Fetch",
    "ListOffsets",
    "DeleteRecords",
    "OffsetForLeaderEpoch",
    "DescribeProducers",
    "WriteTxnMarkers",
}
_OF_SETTINGS = {"DescribeConfigs", "AlterConfigs", "IncrementalAlterConfigs"}


OF_ALL = {"ListGroups": "groups", "ListTransactions": "transaction_states"}
"""What every broker answers for itself, and where the answer has it."""


def ask_everywhere(request: Entity, ask: Ask, ask_at: Callable[[str], Ask], version: int) -> Any:
    """One answer of all brokers; None for a request that is not for all of them."""
    field = OF_ALL.get((request.NAME or "").removesuffix("Request"))
    if field is None:
        return None
    addresses = _addresses(ask(MetadataRequest(topics=[]), 12)).values()
    answers = [ask_at(address)(request, version) for address in addresses]
    merged = answers[0]
    setattr(merged, field, [each for one in answers for each in getattr(one, field)])
    merged.error_code = max(one.error_code for one in answers)
    return merged


class Place(NamedTuple):
    """A partition."""

    topic: str
    partition: int


def find_address(request: Entity, ask: Ask) -> str | None:
    """None for what any broker answers, and for what nobody is found for."""
    name = (request.NAME or "").removesuffix("Request")
    if name in _OF_GROUPS:
        return _coordinator(GROUP, _group(request), ask)
    if name in _OF_TRANSACTIONS:
        return _coordinator(TRANSACTION, _transactional_id(request), ask)
    if name in _OF_LEADERS:
        return _leader(_place(request), ask)
    if name in _OF_SETTINGS:
        return _broker(request, ask)
    return None


def _broker(request: Any, ask: Ask) -> str | None:
    """Whose settings they are, as Kafka's clients have it."""
    for each in request.resources:
        if each.resource_type == ResourceType.BROKER and each.resource_name.isdecimal():
            return _addresses(ask(MetadataRequest(topics=[]), 12)).get(int(each.resource_name))
    return None


def _addresses(answer: Any) -> dict[int, str]:
    return {each.node_id: f"{each.host}:{each.port}" for each in answer.brokers}


def _group(request: Any) -> str:
    for field in ("groups", "group_ids", "groups_names"):
        if named := getattr(request, field, None):
            return str(getattr(named[0], "group_id", named[0]))
    return str(getattr(request, "group_id", "") or "")


def _transactional_id(request: Any) -> str:
    if named := getattr(request, "transactional_ids", None):
        return str(named[0])
    if transactions := getattr(request, "transactions", None):
        return str(transactions[0].transactional_id)
    known = getattr(request, "transactional_id", None)
    return str(known or getattr(request, "v3_and_below_transactional_id", "") or "")


def _place(request: Any) -> Place | None:
    if markers := getattr(request, "markers", None):
        request = markers[0]
    topics = getattr(request, "topic_data", None) or getattr(request, "topics", None)
    if not topics:
        return None
    topic = topics[0]
    partitions = next(
        (
            found
            for field in ("partition_data", "partitions", "partition_indexes")
            if (found := getattr(topic, field, None))
        ),
        [0],
    )
    return Place(
        getattr(topic, "name", None) or getattr(topic, "topic", None) or "", _index(partitions[0])
    )


def _index(partition: Any) -> int:
    if isinstance(partition, int):
        return partition
    for field in ("index", "partition_index", "partition"):
        if hasattr(partition, field):
            return int(getattr(partition, field))
    return 0


def _coordinator(kind: int, key: str, ask: Ask) -> str | None:
    if not key:
        return None
    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        (found,) = ask(request, 4).coordinators
        if found.error_code == ErrorCode.NONE:
            return f"{found.host}:{found.port}"
        if found.error_code != ErrorCode.COORDINATOR_NOT_AVAILABLE:
            break
        time.sleep(0.05)
    return None


def _leader(place: Place | None, ask: Ask) -> str | None:
    if place is None or not place.topic:
        return None
    topic = MetadataRequestTopic(name=place.topic)
    answer = ask(MetadataRequest(topics=[topic], allow_auto_topic_creation=False), 12)
    for each in answer.topics[0].partitions:
        if each.partition_index == place.partition:
            return _addresses(answer).get(each.leader_id)
    return None
