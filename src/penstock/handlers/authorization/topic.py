"""Topics as a whole: made, deleted, made larger."""

from __future__ import annotations

from collections import Counter

from penstock.handlers.authorization.asked import Asked, split
from penstock.handlers.call import Answer
from penstock.model.acl import Operation
from penstock.model.error import ErrorCode
from penstock.model.id import ZERO_ID
from penstock.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from penstock.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from penstock.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)

_METADATA_TOPIC = "__cluster_metadata"
_REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_MESSAGE = "Topic authorization failed."
_BY_STATE_FROM = 6


def _create_topics(asked: Asked, request: CreateTopicsRequest) -> Answer:
    """CREATE on the cluster is CREATE on every topic."""
    may_all = asked.may_cluster(Operation.CREATE)
    times = Counter(topic.name for topic in request.topics)

    def may_create(topic: CreatableTopic) -> bool:
        # What can never be made is refused for that, by whoever else would refuse it.
        is_wrong = topic.name == _METADATA_TOPIC or times[topic.name] > 1
        return is_wrong or may_all or asked.may_topic(Operation.CREATE, topic.name)

    request.topics, refused = split(request.topics, may_create)
    told = [
        CreatableTopicResult(
            name=topic.name,
            error_code=_REFUSED,
            error_message="Authorization failed.",
            num_partitions=-1,
            replication_factor=-1,
        )
        for topic in refused
    ]

    def hide_configs(response: CreateTopicsResponse) -> CreateTopicsResponse:
        for topic in response.topics:
            if not topic.error_code and not asked.may_topic(Operation.DESCRIBE_CONFIGS, topic.name):
                topic.topic_config_error_code = _REFUSED
                topic.num_partitions = topic.replication_factor = -1
                topic.configs = []
        response.topics += told
        return response

    if not request.topics and told:
        return CreateTopicsResponse(topics=told)
    return asked.answer_then(request, hide_configs)


def _create_partitions(asked: Asked, request: CreatePartitionsRequest) -> Answer:
    times = Counter(topic.name for topic in request.topics)
    request.topics, refused = split(
        request.topics,
        lambda topic: times[topic.name] > 1 or asked.may_topic(Operation.ALTER, topic.name),
    )
    told = [
        CreatePartitionsTopicResult(name=topic.name, error_code=_REFUSED, error_message=None)
        for topic in refused
    ]
    return asked.answer_rest(request, request.topics, CreatePartitionsResponse, "results", told)


def _delete_topics(asked: Asked, request: DeleteTopicsRequest) -> Answer:
    """A topic that must not be described is not known, and its name not told."""
    if asked.may_cluster(Operation.DELETE) or not asked.broker.config.get("delete.topic.enable"):
        return asked.answer(request)
    told: list[DeletableTopicResult] = []
    times = Counter(
        [(topic.name, topic.topic_id) for topic in request.topics]
        + [(name, ZERO_ID) for name in request.topic_names]
    )

    def may_delete_name(name: str) -> bool:
        if times[name, ZERO_ID] > 1:
            return True
        if not asked.may_topic(Operation.DESCRIBE, name):
            return _refuse(told, name, ZERO_ID)
        if name not in asked.broker.image.topics or asked.may_topic(Operation.DELETE, name):
            return True
        return _refuse(told, name, ZERO_ID)

    def may_delete(topic: DeleteTopicState) -> bool:
        if topic.name is not None:
            return topic.topic_id != ZERO_ID or may_delete_name(topic.name)
        image = asked.broker.image.topics.get_by_id(topic.topic_id)
        if image is None or times[None, topic.topic_id] > 1:
            return True
        if asked.may_topic(Operation.DELETE, image.name):
            return True
        is_known = asked.may_topic(Operation.DESCRIBE, image.name)
        return _refuse(told, image.name if is_known else None, topic.topic_id)

    request.topics, _ = split(request.topics, may_delete)
    request.topic_names, _ = split(request.topic_names, may_delete_name)
    rest = request.topics if asked.version >= _BY_STATE_FROM else request.topic_names
    return asked.answer_rest(request, rest, DeleteTopicsResponse, "responses", told)


def _refuse(told: list[DeletableTopicResult], name: str | None, topic_id: bytes) -> bool:
    told.append(
        DeletableTopicResult(
            name=name, topic_id=topic_id, error_code=_REFUSED, error_message=_MESSAGE
        )
    )
    return False


GUARDS = {19: _create_topics, 20: _delete_topics, 37: _create_partitions}
