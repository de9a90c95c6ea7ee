"""What is told of topics and of the cluster: only what may be described."""

from __future__ import annotations

from penstock.handlers import authorized
from penstock.handlers.authorization.asked import Asked, split
from penstock.handlers.call import Answer
from penstock.handlers.topic_page import refuse_cursor
from penstock.handlers.topology import INTERNAL_TOPICS
from penstock.model.acl import Operation, ResourceType
from penstock.model.error import ErrorCode
from penstock.model.id import ZERO_ID
from penstock.protocol.messages.describe_cluster import (
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from penstock.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseTopic,
    TopicRequest,
)
from penstock.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)

_REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_NULL_MEANS_ALL_FROM = 1


def _metadata(asked: Asked, request: MetadataRequest) -> Answer:
    if request.topics is None or (asked.version < _NULL_MEANS_ALL_FROM and not request.topics):
        return asked.answer_then(request, lambda response: _all(asked, request, response))
    if _is_plain(asked, request):
        return asked.answer(request)
    may_make_all = asked.may_cluster(Operation.CREATE)
    told: list[MetadataResponseTopic] = []

    def is_shown(topic: MetadataRequestTopic) -> bool:
        if topic.topic_id != ZERO_ID:
            return _is_shown_by_id(asked, topic.topic_id, told)
        name = topic.name
        if name is None:
            return True
        if not asked.may_topic(Operation.DESCRIBE, name):
            told.append(MetadataResponseTopic(error_code=_REFUSED, name=name))
            return False
        is_made = request.allow_auto_topic_creation and asked.broker.config.creates_topics
        if not is_made or name in asked.broker.image.topics:
            return True
        if may_make_all or asked.may_topic(Operation.CREATE, name):
            return True
        is_internal = name in INTERNAL_TOPICS
        told.append(MetadataResponseTopic(error_code=_REFUSED, name=name, is_internal=is_internal))
        return False

    wanted, refused = split(request.topics, is_shown)
    request.topics = wanted

    def add(response: MetadataResponse) -> MetadataResponse:
        if refused and not wanted:
            # To the oldest clients nothing means everything.
            response.topics = []
        _tell_operations(asked, request, response)
        response.topics += told
        return response

    return asked.answer_then(request, add)


def _is_plain(asked: Asked, request: MetadataRequest) -> bool:
    """About topics that are there and may be described: nearly always so, and asked often. Nothing
    is built for it."""
    if request.include_topic_authorized_operations or request.include_cluster_authorized_operations:
        return False
    access, known = asked.access, asked.broker.image.topics
    for topic in request.topics or ():
        name = topic.name
        if name is None or topic.topic_id != ZERO_ID or name not in known:
            return False
        if not access.may_describe_topic(name):
            return False
    return True


def _is_shown_by_id(asked: Asked, topic_id: bytes, told: list[MetadataResponseTopic]) -> bool:
    topic = asked.broker.image.topics.get_by_id(topic_id)
    if topic is None or asked.may_topic(Operation.DESCRIBE, topic.name):
        return True
    told.append(MetadataResponseTopic(error_code=_REFUSED, name=None, topic_id=topic_id))
    return False


def _all(asked: Asked, request: MetadataRequest, response: MetadataResponse) -> MetadataResponse:
    response.topics = [
        topic
        for topic in response.topics
        if topic.name is None or asked.may_topic(Operation.DESCRIBE, topic.name)
    ]
    _tell_operations(asked, request, response)
    return response


def _tell_operations(asked: Asked, request: MetadataRequest, response: MetadataResponse) -> None:
    if request.include_topic_authorized_operations:
        for topic in response.topics:
            topic.topic_authorized_operations = (
                asked.operations(ResourceType.TOPIC, topic.name)
                if topic.name
                else authorized.UNKNOWN
            )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = asked.cluster_operations()


def _describe_cluster(asked: Asked, request: DescribeClusterRequest) -> Answer:
    """Of controllers only to whom administers them, as on Kafka's own."""
    on_controller = asked.call.client.listener in asked.broker.controller_listeners
    if on_controller and not asked.may_cluster(Operation.ALTER):
        return DescribeClusterResponse(
            error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
            error_message="Cluster authorization failed.",
        )

    def tell(response: DescribeClusterResponse) -> DescribeClusterResponse:
        if request.include_cluster_authorized_operations and not response.error_code:
            response.cluster_authorized_operations = asked.cluster_operations()
        return response

    return asked.answer_then(request, tell)


def _describe_topic_partitions(asked: Asked, request: DescribeTopicPartitionsRequest) -> Answer:
    """In pages: what is not shown takes no room in them."""
    invalid = refuse_cursor(request)
    if invalid is not None:
        return invalid
    cursor = request.cursor
    told: list[DescribeTopicPartitionsResponseTopic] = []
    if request.topics:
        request.topics, refused = split(
            request.topics, lambda topic: asked.may_topic(Operation.DESCRIBE, topic.name)
        )
        told = [
            DescribeTopicPartitionsResponseTopic(error_code=_REFUSED, name=topic.name)
            for topic in refused
            if cursor is None or topic.name >= cursor.topic_name
        ]
    else:
        request.topics = [
            TopicRequest(name=topic.name)
            for topic in asked.broker.image.topics
            if asked.may_topic(Operation.DESCRIBE, topic.name)
        ]

    def add(response: DescribeTopicPartitionsResponse) -> DescribeTopicPartitionsResponse:
        for topic in response.topics:
            topic.topic_authorized_operations = asked.operations(
                ResourceType.TOPIC, topic.name or ""
            )
        response.topics += told
        return response

    if cursor is not None:
        request.topics = [topic for topic in request.topics if topic.name >= cursor.topic_name]
        if all(topic.name != cursor.topic_name for topic in request.topics):
            # It may have been deleted, or not be shown: the next one begins with its first.
            request.cursor = None
    # With no topic at all the handler would describe every one.
    if not request.topics:
        return add(DescribeTopicPartitionsResponse())
    return asked.answer_then(request, add)


GUARDS = {3: _metadata, 60: _describe_cluster, 75: _describe_topic_partitions}
