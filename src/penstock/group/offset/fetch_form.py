"""The two forms of OffsetFetch: one group per request before version 8, many since.

A shard answers group by group; requests and responses are taken apart and put together here.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.model.error import ErrorCode
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

_MANY_GROUPS_SINCE = 8
_GROUP_ERROR_SINCE = 2


def fetched_groups(request: OffsetFetchRequest, version: int) -> list[OffsetFetchRequestGroup]:
    if version >= _MANY_GROUPS_SINCE:
        return request.groups
    topics = None
    if request.topics is not None:
        topics = [
            OffsetFetchRequestTopics(name=one.name, partition_indexes=one.partition_indexes)
            for one in request.topics
        ]
    return [OffsetFetchRequestGroup(group_id=request.group_id, topics=topics)]


def fetch_response(
    request: OffsetFetchRequest, groups: Sequence[OffsetFetchResponseGroup], version: int
) -> OffsetFetchResponse:
    """Version 1 has no place for an error of the whole group: there each partition bears it."""
    if version >= _MANY_GROUPS_SINCE:
        return OffsetFetchResponse(groups=list(groups))
    (group,) = groups
    if group.error_code == ErrorCode.NONE:
        return OffsetFetchResponse(topics=[_single_form(one) for one in group.topics])
    if version >= _GROUP_ERROR_SINCE:
        return OffsetFetchResponse(error_code=group.error_code)
    return OffsetFetchResponse(topics=_refused_topics(request, group.error_code))


def _single_form(topic: OffsetFetchResponseTopics) -> OffsetFetchResponseTopic:
    return OffsetFetchResponseTopic(
        name=topic.name,
        partitions=[
            OffsetFetchResponsePartition(
                partition_index=one.partition_index,
                committed_offset=one.committed_offset,
                committed_leader_epoch=one.committed_leader_epoch,
                metadata=one.metadata,
                error_code=one.error_code,
            )
            for one in topic.partitions
        ],
    )


def _refused_topics(request: OffsetFetchRequest, error_code: int) -> list[OffsetFetchResponseTopic]:
    return [
        OffsetFetchResponseTopic(
            name=topic.name,
            partitions=[
                OffsetFetchResponsePartition(
                    partition_index=index, committed_offset=-1, metadata="", error_code=error_code
                )
                for index in topic.partition_indexes
            ],
        )
        for topic in request.topics or ()
    ]
