"""OffsetFetch: where groups left off."""

from __future__ import annotations

from penstock.group import fetch_response, fetched_groups
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.group_call import ask
from penstock.handlers.pace import Pace
from penstock.handlers.pieces import Cut, pieces
from penstock.model.error import ErrorCode
from penstock.model.id import ZERO_ID
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)

TOPIC_IDS_FROM = 10
PARTITIONS = Cut("topics", "topics", "partition_indexes", size=1000)


def handle(broker: Broker, request: OffsetFetchRequest, call: Call) -> Answer:
    return _fetch(broker, request, call)


async def _fetch(broker: Broker, request: OffsetFetchRequest, call: Call) -> OffsetFetchResponse:
    groups = [
        await _fetch_group(broker, group, request.require_stable, call.version)
        for group in fetched_groups(request, call.version)
    ]
    return fetch_response(request, groups, call.version)


async def _fetch_group(
    broker: Broker, group: OffsetFetchRequestGroup, require_stable: bool, version: int
) -> OffsetFetchResponseGroup:
    unknown = _resolve(broker, group, version)
    found = await _ask(broker, group, require_stable)
    if version >= TOPIC_IDS_FROM:
        found.topics = [topic for topic in found.topics if _with_id(broker, topic)]
    else:
        for topic in found.topics:
            topic.topic_id = ZERO_ID
    found.topics += unknown
    return found


async def _ask(
    broker: Broker, group: OffsetFetchRequestGroup, require_stable: bool
) -> OffsetFetchResponseGroup:
    """About some of its partitions at a time, if there are many: until one is refused."""
    pace = Pace(broker.clock.monotonic)
    found: OffsetFetchResponseGroup | None = None
    for piece in pieces(group, PARTITIONS):
        more = await _ask_once(broker, piece, require_stable)
        if found is None or more.error_code:
            found = more
        else:
            found.topics += more.topics
        if found.error_code:
            break
        await pace.keep()
    assert found is not None
    return found


async def _ask_once(
    broker: Broker, group: OffsetFetchRequestGroup, require_stable: bool
) -> OffsetFetchResponseGroup:
    return await ask(
        broker,
        group.group_id,
        lambda shard, _: shard.offsets.decide_fetch(group, require_stable),
        lambda code: OffsetFetchResponseGroup(group_id=group.group_id, error_code=code),
    )


def _resolve(
    broker: Broker, group: OffsetFetchRequestGroup, version: int
) -> list[OffsetFetchResponseTopics]:
    if version < TOPIC_IDS_FROM or group.topics is None:
        return []
    known, unknown = [], []
    for topic in group.topics:
        image = broker.image.topics.get_by_id(topic.topic_id)
        if image is not None:
            topic.name = image.name
            known.append(topic)
            continue
        unknown.append(
            OffsetFetchResponseTopics(
                topic_id=topic.topic_id,
                partitions=[
                    OffsetFetchResponsePartitions(
                        partition_index=index,
                        committed_offset=-1,
                        error_code=ErrorCode.UNKNOWN_TOPIC_ID,
                    )
                    for index in topic.partition_indexes
                ],
            )
        )
    group.topics = known
    return unknown


def _with_id(broker: Broker, topic: OffsetFetchResponseTopics) -> bool:
    """Clients of this version know topics by id: one that is gone has nothing to tell."""
    image = broker.image.topics.get(topic.name)
    if image is not None:
        topic.topic_id, topic.name = image.id, ""
    return image is not None
