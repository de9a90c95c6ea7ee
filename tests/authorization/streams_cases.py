"""Groups of the streams protocol."""

from __future__ import annotations

from typing import Final

from penstock.protocol.entity import Entity
from penstock.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from penstock.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    Subtopology,
    Topology,
)
from tests.authorization.cases import TOPIC, Scene, case

STREAMS: Final = "authz-streams"


def join(member_id: str, timeout_ms: int, topic: str = TOPIC) -> StreamsGroupHeartbeatRequest:
    return StreamsGroupHeartbeatRequest(
        group_id=STREAMS,
        member_id=member_id,
        member_epoch=0,
        rebalance_timeout_ms=timeout_ms,
        topology=Topology(subtopologies=[Subtopology(subtopology_id="0", source_topics=[topic])]),
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        process_id=member_id,
    )


@case("heartbeat of the streams protocol", 88)
def heartbeat(scene: Scene) -> Entity:
    """Who may join is refused for the timeout that is missing."""
    return join("somebody", -1)


@case("heartbeat of the streams protocol that names an internal topic", 88)
def heartbeat_internal(scene: Scene) -> Entity:
    return join("somebody", -1, "__consumer_offsets")


@case("heartbeat of the streams protocol without a topology", 88)
def heartbeat_later(scene: Scene) -> Entity:
    return StreamsGroupHeartbeatRequest(group_id=STREAMS, member_id="somebody", member_epoch=5)


@case("describe streams groups", 89)
def describe(scene: Scene) -> Entity:
    return StreamsGroupDescribeRequest(
        group_ids=[STREAMS, "other-group"], include_authorized_operations=True
    )
