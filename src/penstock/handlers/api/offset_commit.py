"""OffsetCommit: keep a group's place. Acknowledged means that it is in the log."""

from __future__ import annotations

from penstock.group import commit_refused
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.coordinator_call import mapped
from penstock.handlers.group_call import answer, caller_of
from penstock.handlers.named_once import answered_once
from penstock.model.error import ErrorCode
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponseTopic,
)

TOPIC_IDS_FROM = 10


def handle(broker: Broker, request: OffsetCommitRequest, call: Call) -> Answer:
    unknown = _resolve(broker, request, call.version)
    committed = answer(
        broker,
        request.group_id,
        lambda shard, now_ms: shard.offsets.decide_commit(request, caller_of(call), now_ms),
        lambda code: commit_refused(request.topics, code),
    )
    if not unknown:
        return committed
    key = "topic_id" if call.version >= TOPIC_IDS_FROM else "name"
    return mapped(committed, lambda response: _with(response, unknown, key))


def _with(
    response: OffsetCommitResponse, unknown: list[OffsetCommitResponseTopic], key: str
) -> OffsetCommitResponse:
    response.topics = answered_once(unknown + response.topics, key)
    return response


def _resolve(
    broker: Broker, request: OffsetCommitRequest, version: int
) -> list[OffsetCommitResponseTopic]:
    """Fills in names where ids were sent and ids where names were; the answers for topics that
    do not exist, which are taken out of the request."""
    known: list[OffsetCommitRequestTopic] = []
    unknown: list[OffsetCommitResponseTopic] = []
    for topic in request.topics:
        if version >= TOPIC_IDS_FROM:
            image = broker.image.topics.get_by_id(topic.topic_id)
            if image is None:
                unknown += commit_refused([topic], ErrorCode.UNKNOWN_TOPIC_ID).topics
                continue
            topic.name = image.name
        else:
            image = broker.image.topics.get(topic.name)
            if image is None:
                unknown += commit_refused([topic], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION).topics
                continue
            topic.topic_id = image.id
        missing = [one for one in topic.partitions if one.partition_index not in image.partitions]
        if missing:
            absent = OffsetCommitRequestTopic(
                name=topic.name, topic_id=topic.topic_id, partitions=missing
            )
            unknown += commit_refused([absent], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION).topics
            topic.partitions = [
                one for one in topic.partitions if one.partition_index in image.partitions
            ]
        if topic.partitions:
            known.append(topic)
    request.topics = known
    return unknown
