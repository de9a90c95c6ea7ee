"""Offsets of groups: what is allowed of the group, and of each topic in it."""

from __future__ import annotations

from penstock.group import commit_refused, fetch_response, fetched_groups, txn_commit_refused
from penstock.handlers.authorization.asked import Asked, split
from penstock.handlers.call import Answer
from penstock.model.acl import Operation
from penstock.model.error import ErrorCode
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from penstock.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from penstock.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)

_MANY_GROUPS_FROM = 8
_TOPIC_REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_GROUP_REFUSED = ErrorCode.GROUP_AUTHORIZATION_FAILED


def _commit(asked: Asked, request: OffsetCommitRequest) -> Answer:
    if not asked.may_group(Operation.READ, request.group_id):
        return commit_refused(request.topics, _GROUP_REFUSED)

    def may_read(topic: OffsetCommitRequestTopic) -> bool:
        name = asked.topic_name(topic.name, topic.topic_id)
        return name is None or asked.may_topic(Operation.READ, name)

    request.topics, refused = split(request.topics, may_read)
    told = commit_refused(refused, _TOPIC_REFUSED).topics
    return asked.answer_rest(request, request.topics, OffsetCommitResponse, "topics", told)


def _txn_commit(asked: Asked, request: TxnOffsetCommitRequest) -> Answer:
    if not asked.may_transact(Operation.WRITE, request.transactional_id):
        code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        return txn_commit_refused(request.topics, code)
    if not asked.may_group(Operation.READ, request.group_id):
        return txn_commit_refused(request.topics, _GROUP_REFUSED)
    request.topics, refused = split(
        request.topics, lambda topic: asked.may_topic(Operation.READ, topic.name)
    )
    told = txn_commit_refused(refused, _TOPIC_REFUSED).topics
    return asked.answer_rest(request, request.topics, TxnOffsetCommitResponse, "topics", told)


def _delete(asked: Asked, request: OffsetDeleteRequest) -> Answer:
    if not asked.may_group(Operation.DELETE, request.group_id):
        return OffsetDeleteResponse(error_code=_GROUP_REFUSED)
    request.topics, refused = split(
        request.topics, lambda topic: asked.may_topic(Operation.READ, topic.name)
    )
    told = [
        OffsetDeleteResponseTopic(
            name=topic.name,
            partitions=[
                OffsetDeleteResponsePartition(
                    partition_index=one.partition_index, error_code=_TOPIC_REFUSED
                )
                for one in topic.partitions
            ],
        )
        for topic in refused
    ]

    def add(response: OffsetDeleteResponse) -> OffsetDeleteResponse:
        if not response.error_code:
            response.topics += told
        return response

    # Also with no topic left: whether there is such a group is told in any case.
    return asked.answer_then(request, add) if told else asked.answer(request)


# Fetching


def _fetch(asked: Asked, request: OffsetFetchRequest) -> Answer:
    if asked.version < _MANY_GROUPS_FROM:
        return _fetch_one(asked, request)
    allowed, refused = split(
        request.groups, lambda group: asked.may_group(Operation.DESCRIBE, group.group_id)
    )
    request.groups = allowed
    hidden = {group.group_id: _take_hidden(asked, group) for group in allowed}

    def add(response: OffsetFetchResponse) -> OffsetFetchResponse:
        for group in response.groups:
            if not group.error_code:
                group.topics = [topic for topic in group.topics if _is_shown(asked, topic)]
                group.topics += hidden.get(group.group_id, [])
        response.groups += [
            OffsetFetchResponseGroup(group_id=group.group_id, error_code=_GROUP_REFUSED)
            for group in refused
        ]
        return response

    return asked.answer_then(request, add) if allowed else add(OffsetFetchResponse())


def _take_hidden(asked: Asked, group: OffsetFetchRequestGroup) -> list[OffsetFetchResponseTopics]:
    """Takes topics out that are not to be described; the answers for them."""
    if group.topics is None:
        return []

    def may_describe(topic: OffsetFetchRequestTopics) -> bool:
        name = asked.topic_name(topic.name, topic.topic_id)
        return name is None or asked.may_topic(Operation.DESCRIBE, name)

    group.topics, hidden = split(group.topics, may_describe)
    return [
        OffsetFetchResponseTopics(
            name=topic.name,
            topic_id=topic.topic_id,
            partitions=[
                OffsetFetchResponsePartitions(
                    partition_index=index, committed_offset=-1, error_code=_TOPIC_REFUSED
                )
                for index in topic.partition_indexes
            ],
        )
        for topic in hidden
    ]


def _is_shown(asked: Asked, topic: OffsetFetchResponseTopics) -> bool:
    """Who asks for all topics is told of those that may be described."""
    name = asked.topic_name(topic.name, topic.topic_id)
    return name is None or asked.may_topic(Operation.DESCRIBE, name)


def _fetch_one(asked: Asked, request: OffsetFetchRequest) -> Answer:
    """Before there could be several groups in a request."""
    if not asked.may_group(Operation.DESCRIBE, request.group_id):
        groups = [
            OffsetFetchResponseGroup(group_id=group.group_id, error_code=_GROUP_REFUSED)
            for group in fetched_groups(request, asked.version)
        ]
        return fetch_response(request, groups, asked.version)
    hidden: list[OffsetFetchRequestTopic] = []
    if request.topics is not None:
        request.topics, hidden = split(
            request.topics, lambda topic: asked.may_topic(Operation.DESCRIBE, topic.name)
        )
    told = [
        OffsetFetchResponseTopic(
            name=topic.name,
            partitions=[
                OffsetFetchResponsePartition(
                    partition_index=index, committed_offset=-1, error_code=_TOPIC_REFUSED
                )
                for index in topic.partition_indexes
            ],
        )
        for topic in hidden
    ]

    def add(response: OffsetFetchResponse) -> OffsetFetchResponse:
        if not response.error_code:
            response.topics = [
                topic
                for topic in response.topics
                if asked.may_topic(Operation.DESCRIBE, topic.name)
            ]
            response.topics += told
        return response

    return asked.answer_then(request, add)


GUARDS = {8: _commit, 9: _fetch, 28: _txn_commit, 47: _delete}
