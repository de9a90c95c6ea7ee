"""Who says that it is a broker is held to its quota, unless it may act for the cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from tests.node.node_kit import running
from tests.node.wire_kit import Wire

AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
TINY_PERCENT = 0.000_001


def limit_everybody(wire: Wire) -> None:
    entry = RequestEntryData(
        entity=[RequestEntityData(entity_type="client-id", entity_name=None)],
        ops=[OpData(key="request_percentage", value=TINY_PERCENT)],
    )
    answer = wire.call(AlterClientQuotasRequest(entries=[entry]), 1)
    assert [each.error_code for each in answer.entries] == [0]


def throttled_ms(wire: Wire, replica_id: int) -> int:
    asked = ListOffsetsPartition(partition_index=0, timestamp=-1)
    topic = ListOffsetsTopic(name="t", partitions=[asked])
    request = ListOffsetsRequest(replica_id=replica_id, topics=[topic])
    return max(int(wire.call(request, 7).throttle_time_ms) for _ in range(3))


@pytest.mark.parametrize(
    ("user", "replica_id", "is_free"),
    [
        (None, 1, False),
        ("User:ANONYMOUS", -1, False),
        ("User:ANONYMOUS", 1, True),
        ("User:broker", 1, False),
    ],
)
def test_a_quota_holds_for_whoever_is_no_broker(
    user: str | None, replica_id: int, is_free: bool, tmp_path: Path
) -> None:
    """The user is the one that may do everything; None where there is no authorizer."""
    with running(tmp_path) as node, Wire(node.address) as wire:
        limit_everybody(wire)
    more = {} if user is None else {"authorizer.class.name": AUTHORIZER, "super.users": user}
    with running(tmp_path, settings=more) as node, Wire(node.address) as wire:
        assert (throttled_ms(wire, replica_id) == 0) is is_free
