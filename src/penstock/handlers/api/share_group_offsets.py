"""DescribeShareGroupOffsets, AlterShareGroupOffsets, DeleteShareGroupOffsets: how far share groups
are in their partitions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.group.share.state_topic import places
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.share.offset import OffsetView, Place, alter, forget, state_of, views
from penstock.model.error import ErrorCode
from penstock.model.feature import SHARE_VERSION
from penstock.model.id import ZERO_ID, TopicId
from penstock.protocol.messages import alter_share_group_offsets as altering
from penstock.protocol.messages import delete_share_group_offsets as deleting
from penstock.protocol.messages import describe_share_group_offsets as describing
from penstock.share.shard import Result

_OFF = (ErrorCode.UNSUPPORTED_VERSION, "The version of API is not supported.")
_NAMELESS = (ErrorCode.INVALID_GROUP_ID, "The group id is invalid.")
_UNKNOWN = Result(
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition."
)

_NOTHING = Result(_UNKNOWN.error, "There is no offset information to delete.")


def handle(broker: Broker, request: Any, call: Call) -> Answer:
    is_on = bool(broker.image.features.get(SHARE_VERSION))
    if isinstance(request, describing.DescribeShareGroupOffsetsRequest):
        return _describe(broker, request, is_on)
    is_altering = isinstance(request, altering.AlterShareGroupOffsetsRequest)
    if is_on and request.group_id:
        return _alter(broker, request) if is_altering else _delete(broker, request)
    error, message = _NAMELESS if is_on else _OFF
    if is_altering:
        return altering.AlterShareGroupOffsetsResponse(error_code=error, error_message=message)
    return deleting.DeleteShareGroupOffsetsResponse(error_code=error, error_message=message)


# --- describing ---


async def _describe(
    broker: Broker, request: describing.DescribeShareGroupOffsetsRequest, is_on: bool
) -> describing.DescribeShareGroupOffsetsResponse:
    response = describing.DescribeShareGroupOffsetsResponse()
    for group in request.groups:
        if is_on:
            response.groups.append(await _describe_group(broker, group))
        else:
            response.groups.append(
                describing.DescribeShareGroupOffsetsResponseGroup(
                    group_id=group.group_id, error_code=_OFF[0]
                )
            )
    return response


async def _describe_group(
    broker: Broker, asked: describing.DescribeShareGroupOffsetsRequestGroup
) -> describing.DescribeShareGroupOffsetsResponseGroup:
    group_id = asked.group_id
    answer = describing.DescribeShareGroupOffsetsResponseGroup(group_id=group_id)
    known = await state_of(broker, group_id)
    # Kafka: a group that is not there has no offsets, which is no error.
    is_there = known.error is not ErrorCode.GROUP_ID_NOT_FOUND
    if asked.topics is None and not is_there:
        return answer
    if is_there and known.error is not ErrorCode.NONE:
        answer.error_code, answer.error_message = known.error, known.message
        return answer
    if asked.topics is None:
        wanted = places(known.topics.initialized)
        found = await views(broker, group_id, wanted)
        names = {one: topic.name for one, topic in known.topics.initialized.items()}
        by_topic = [
            (names[topic_id], topic_id, sorted({index for one, index in wanted if one == topic_id}))
            for topic_id in names
        ]
    else:
        by_topic = [
            (one.topic_name, _id_of(broker, one.topic_name), one.partitions) for one in asked.topics
        ]
        there = (
            (topic_id, index)
            for _, topic_id, indexes in by_topic
            for index in indexes
            if _exists(broker, topic_id, index)
        )
        found = await views(broker, group_id, there)
    answer.topics = [
        describing.DescribeShareGroupOffsetsResponseTopic(
            topic_name=name,
            topic_id=topic_id,
            partitions=[_described(index, found.get((topic_id, index))) for index in indexes],
        )
        for name, topic_id, indexes in by_topic
    ]
    return answer


def _described(
    index: int, view: OffsetView | None
) -> describing.DescribeShareGroupOffsetsResponsePartition:
    result, lag = (Result(), -1) if view is None else view
    is_known = result.error is ErrorCode.NONE
    return describing.DescribeShareGroupOffsetsResponsePartition(
        partition_index=index,
        start_offset=result.state.start_offset,
        leader_epoch=result.state.leader_epoch,
        lag=lag,
        error_code=result.error,
        error_message=None if is_known else result.message,
    )


# --- altering ---


async def _alter(
    broker: Broker, request: altering.AlterShareGroupOffsetsRequest
) -> altering.AlterShareGroupOffsetsResponse:
    offsets: dict[Place, int] = {}
    names: dict[TopicId, str] = {}
    for topic in request.topics:
        topic_id = _id_of(broker, topic.topic_name)
        names[topic_id] = topic.topic_name
        for one in topic.partitions:
            if _exists(broker, topic_id, one.partition_index):
                offsets[topic_id, one.partition_index] = one.start_offset
    begun, results = await alter(broker, request.group_id, offsets, names)
    if begun.error is not ErrorCode.NONE:
        return altering.AlterShareGroupOffsetsResponse(
            error_code=begun.error, error_message=begun.message
        )
    return altering.AlterShareGroupOffsetsResponse(
        responses=[
            altering.AlterShareGroupOffsetsResponseTopic(
                topic_name=topic.topic_name,
                topic_id=_id_of(broker, topic.topic_name),
                partitions=_altered(
                    _id_of(broker, topic.topic_name),
                    (one.partition_index for one in topic.partitions),
                    results,
                ),
            )
            for topic in request.topics
        ]
    )


def _altered(
    topic_id: TopicId, indexes: Iterable[int], results: Any
) -> list[altering.AlterShareGroupOffsetsResponsePartition]:
    found = ((index, results.get((topic_id, index), _UNKNOWN)) for index in indexes)
    return [
        altering.AlterShareGroupOffsetsResponsePartition(
            partition_index=index, error_code=result.error, error_message=result.message
        )
        for index, result in found
    ]


# --- deleting ---


async def _delete(
    broker: Broker, request: deleting.DeleteShareGroupOffsetsRequest
) -> deleting.DeleteShareGroupOffsetsResponse:
    ids = {one.topic_name: _id_of(broker, one.topic_name) for one in request.topics}
    known = [topic_id for topic_id in ids.values() if topic_id != ZERO_ID]
    begun, results = await forget(broker, request.group_id, known)
    if begun.error is not ErrorCode.NONE:
        return deleting.DeleteShareGroupOffsetsResponse(
            error_code=begun.error, error_message=begun.message
        )
    return deleting.DeleteShareGroupOffsetsResponse(
        responses=[_deleted(name, topic_id, results) for name, topic_id in ids.items()]
    )


def _deleted(
    name: str, topic_id: TopicId, results: Any
) -> deleting.DeleteShareGroupOffsetsResponseTopic:
    result = results.get(topic_id)
    if topic_id == ZERO_ID:
        result = _UNKNOWN
    elif result is None:
        result = _NOTHING
    return deleting.DeleteShareGroupOffsetsResponseTopic(
        topic_name=name,
        topic_id=topic_id,
        error_code=result.error,
        error_message=None if result.error is ErrorCode.NONE else result.message,
    )


def _id_of(broker: Broker, name: str) -> TopicId:
    topic = broker.image.topics.get(name)
    return ZERO_ID if topic is None else topic.id


def _exists(broker: Broker, topic_id: TopicId, index: int) -> bool:
    topic = broker.image.topics.get_by_id(topic_id)
    return topic is not None and index in topic.partitions
