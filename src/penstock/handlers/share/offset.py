"""How far share groups are, for admins: told, altered, forgotten. The state is asked of wherever it
is kept, and how long a partition is of its leader."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from penstock.coordinator.brokers import NoAnswer, NotSpoken
from penstock.coordinator.share_form import Delete, Initialize, ShareCall, Summarize
from penstock.group import GroupEntry, GroupShard
from penstock.group.share.coordinator import StateAnswer
from penstock.group.share.record import SharedTopic, SharedTopics
from penstock.group.share.state_topic import all_places
from penstock.handlers.group_call import ask
from penstock.machine.decision import Decision
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.model.id import TopicId
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from penstock.share import ShareKey
from penstock.share.kept import UNKNOWN_COUNT, UNKNOWN_OFFSET, KeptState
from penstock.share.shard import Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.handlers.broker import Broker

LATEST = -1
UNKNOWN_LAG = -1
AT_ONCE = 64

Place = tuple[TopicId, int]
CallT = TypeVar("CallT", bound=ShareCall)


class OffsetView(NamedTuple):
    result: Result
    lag: int


async def state_of(broker: Broker, group_id: str) -> StateAnswer:
    """Which share partitions of a group have state."""
    return await _ask(
        broker, group_id, lambda shard, _: shard.share.decide_state(group_id, must_be_empty=False)
    )


async def views(
    broker: Broker, group_id: str, wanted: Iterable[Place]
) -> Mapping[Place, OffsetView]:
    async def look(place: Place) -> OffsetView:
        result = await broker.share.states.ask(ShareKey(group_id, *place), Summarize())
        if result.error is not ErrorCode.NONE:
            return OffsetView(result, UNKNOWN_LAG)
        return OffsetView(result, await _lag(broker, place, result.state))

    wanted = list(wanted)
    found: dict[Place, OffsetView] = {}
    for at in range(0, len(wanted), AT_ONCE):
        some = wanted[at : at + AT_ONCE]
        found |= zip(some, await asyncio.gather(*map(look, some)), strict=True)
    return found


async def _lag(broker: Broker, place: Place, state: KeptState) -> int:
    """Records that are not done with, as far as that is known."""
    if state.start_offset == UNKNOWN_OFFSET or state.done_count == UNKNOWN_COUNT:
        return UNKNOWN_LAG
    end = await _end_offset(broker, place)
    return UNKNOWN_LAG if end is None else max(0, end - state.start_offset - state.done_count)


async def _end_offset(broker: Broker, place: Place) -> int | None:
    topic_id, index = place
    here = broker.partitions.get_by_id(topic_id, index)
    if here is not None and here.is_led:
        try:
            return here.high_watermark
        except (ApiError, StorageError):
            return None
    topic = broker.image.topics.get_by_id(topic_id)
    partition = None if topic is None else topic.partitions.get(index)
    if topic is None or partition is None or partition.leader < 0:
        return None
    asked = ListOffsetsPartition(partition_index=index, timestamp=LATEST)
    request = ListOffsetsRequest(
        replica_id=-1, topics=[ListOffsetsTopic(name=topic.name, partitions=[asked])]
    )
    try:
        answer = await broker.share.brokers.call(partition.leader, request, 1)
    except (NoAnswer, NotSpoken):
        return None
    one = cast(ListOffsetsResponse, answer).topics[0].partitions[0]
    return None if one.error_code else one.offset


async def alter(
    broker: Broker, group_id: str, offsets: Mapping[Place, int], names: Mapping[TopicId, str]
) -> tuple[StateAnswer, Mapping[Place, Result]]:
    topics = _shared(offsets, names)
    begun = await _ask(
        broker, group_id, lambda shard, now: shard.share.decide_altering(group_id, topics, now)
    )
    if begun.error is not ErrorCode.NONE:
        return begun, {}
    calls = {place: Initialize(begun.epoch, offset) for place, offset in offsets.items()}
    results = await _call_all(broker, group_id, calls)
    done = _shared([one for one in results if results[one].error is ErrorCode.NONE], names)
    await _ask(
        broker,
        group_id,
        lambda shard, now: _told(shard.share.decide_initialized(group_id, done, now)),
    )
    return begun, results


async def forget(
    broker: Broker, group_id: str, topic_ids: Iterable[TopicId] | None
) -> tuple[StateAnswer, Mapping[TopicId, Result]]:
    """Of these topics, or of all: what the group had of them, and what became of it."""
    asked = None if topic_ids is None else frozenset(topic_ids)
    begun = await _ask(
        broker, group_id, lambda shard, _: shard.share.decide_deleting(group_id, asked)
    )
    if begun.error is not ErrorCode.NONE:
        return begun, {}
    wanted = [place for place in all_places(begun.topics) if asked is None or place[0] in asked]
    results = await _call_all(broker, group_id, dict.fromkeys(wanted, Delete()))
    by_topic: dict[TopicId, Result] = {}
    for (topic_id, _), result in results.items():
        if result.error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            # Deleted meanwhile, and its state with it.
            result = Result()
        if by_topic.get(topic_id, Result()).error is ErrorCode.NONE:
            by_topic[topic_id] = result
    gone = [one for one, result in by_topic.items() if result.error is ErrorCode.NONE]
    await _ask(broker, group_id, lambda shard, _: _told(shard.share.decide_deleted(group_id, gone)))
    return begun, by_topic


async def _call_all(
    broker: Broker, group_id: str, calls: Mapping[Place, CallT]
) -> dict[Place, Result]:
    found: dict[Place, Result] = {}
    wanted = list(calls)
    for at in range(0, len(wanted), AT_ONCE):
        some = wanted[at : at + AT_ONCE]
        results = await asyncio.gather(
            *(broker.share.states.ask(ShareKey(group_id, *one), calls[one]) for one in some)
        )
        found |= zip(some, results, strict=True)
    return found


def _shared(wanted: Iterable[Place], names: Mapping[TopicId, str]) -> SharedTopics:
    found: dict[TopicId, set[int]] = {}
    for topic_id, index in wanted:
        found.setdefault(topic_id, set()).add(index)
    return {one: SharedTopic(names[one], frozenset(found[one])) for one in found}


def _told(decision: Decision[GroupEntry, None]) -> Decision[GroupEntry, StateAnswer]:
    return Decision(decision.records, StateAnswer(), decision.timers, (), decision.adopt)


async def _ask(
    broker: Broker,
    group_id: str,
    decide: Callable[[GroupShard, int], Decision[GroupEntry, StateAnswer]],
) -> StateAnswer:
    return await ask(broker, group_id, decide, StateAnswer)
