"""DeleteTopics: by name or by id, never both for one topic."""

from __future__ import annotations

from collections import Counter

from penstock.controller.config import ControllerContext
from penstock.controller.outcome import ChargePartitions, Outcome, charge_nobody, conclude
from penstock.metadata.record import MetadataRecord
from penstock.metadata.topic import TopicImage
from penstock.model.error import ApiError, ErrorCode
from penstock.model.id import ZERO_ID
from penstock.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from penstock.protocol.messages.records.remove_topic_record import RemoveTopicRecord


def decide_delete_topics(
    context: ControllerContext,
    request: DeleteTopicsRequest,
    charge: ChargePartitions = charge_nobody,
) -> Outcome[DeleteTopicsResponse]:
    asked = [
        *(DeleteTopicState(name=name) for name in request.topic_names),
        *request.topics,
    ]
    counts = Counter((state.name, state.topic_id) for state in asked)
    results: list[DeletableTopicResult] = []
    doomed: dict[bytes, MetadataRecord] = {}
    for (name, topic_id), count in counts.items():
        try:
            topic = _find(context, name, topic_id, count)
            if topic.id in doomed:
                raise _invalid("The provided topic name maps to an ID that was already supplied.")
            charge(len(topic.partitions))
            doomed[topic.id] = RemoveTopicRecord(topic_id=topic.id)
            results.append(DeletableTopicResult(name=topic.name, topic_id=topic.id))
        except ApiError as error:
            results.append(_failure(name, topic_id, error))
    return conclude(context.config, list(doomed.values()), DeleteTopicsResponse(responses=results))


def _find(context: ControllerContext, name: str | None, topic_id: bytes, count: int) -> TopicImage:
    if not context.config.delete_topic_enable:
        raise ApiError(ErrorCode.TOPIC_DELETION_DISABLED, "Topic deletion is disabled.")
    _check_named_once(name, topic_id, count)
    topics = context.image.topics
    topic = topics.get_by_id(topic_id) if name is None else topics.get(name)
    if topic is not None:
        return topic
    if name is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID, "This server does not host this topic ID.")
    raise ApiError(
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition."
    )


def _check_named_once(name: str | None, topic_id: bytes, count: int) -> None:
    if name is None and topic_id == ZERO_ID:
        raise _invalid("Neither topic name nor id were specified.")
    if name is not None and topic_id != ZERO_ID:
        raise _invalid("You may not specify both topic name and topic id.")
    if count > 1:
        raise _invalid("Duplicate topic id." if name is None else "Duplicate topic name.")


def _failure(name: str | None, topic_id: bytes, error: ApiError) -> DeletableTopicResult:
    return DeletableTopicResult(
        name=name, topic_id=topic_id, error_code=error.code, error_message=error.message
    )


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
