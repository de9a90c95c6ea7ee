"""Which partitions can be queried where: what instances of an application tell each other."""

from __future__ import annotations

from penstock.group.streams.draft import StreamsDraft
from penstock.group.streams.member import StreamsMember
from penstock.group.streams.task import Tasks
from penstock.protocol.messages.streams_group_heartbeat import (
    EndpointToPartitions,
    ResponseEndpoint,
    TopicPartition,
)


def partitions_by_endpoint(draft: StreamsDraft) -> list[EndpointToPartitions]:
    return [
        EndpointToPartitions(
            user_endpoint=ResponseEndpoint(host=member.endpoint[0], port=member.endpoint[1]),
            active_partitions=_partitions(draft, member.owned.tasks.active),
            standby_partitions=_partitions(draft, member.owned.standby),
        )
        for member in _members(draft)
        if member.endpoint is not None
    ]


def _members(draft: StreamsDraft) -> list[StreamsMember]:
    return list(draft.group.members.values())


def _partitions(draft: StreamsDraft, tasks: Tasks) -> list[TopicPartition]:
    """A topic may have fewer partitions than the subtopology that reads it has tasks."""
    found = []
    for name, subtopology_id in draft.group.sources.items():
        topic = draft.topics.get(name)
        if topic is None or subtopology_id not in tasks:
            continue
        partitions = sorted(one for one in tasks[subtopology_id] if one < topic.partition_count)
        found.append(TopicPartition(topic=name, partitions=partitions))
    return found
