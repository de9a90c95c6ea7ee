"""How a streams group looks to admins."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.group.streams.configure import InternalTopic
from penstock.group.streams.draft import StreamsDraft
from penstock.group.streams.group import StreamsGroup
from penstock.group.streams.member import StreamsMember
from penstock.group.streams.target import check_topics
from penstock.group.streams.task import Tasks, TaskSet
from penstock.model.error import ErrorCode
from penstock.protocol.messages.records.streams_group_topology import Subtopology as Kept
from penstock.protocol.messages.records.streams_group_topology import TopicInfo as KeptTopic
from penstock.protocol.messages.streams_group_describe import (
    Assignment,
    DescribedGroup,
    Endpoint,
    KeyValue,
    Member,
    Subtopology,
    TaskIds,
    TopicInfo,
    Topology,
)


def described(draft: StreamsDraft) -> DescribedGroup:
    group = draft.group
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        topology=_topology(draft),
        members=[_member(group, one) for one in group.members.values()],
    )


def described_missing(group_id: str, is_other: bool) -> DescribedGroup:
    reason = "is not a streams group" if is_other else "not found"
    return DescribedGroup(
        group_id=group_id,
        error_code=ErrorCode.GROUP_ID_NOT_FOUND,
        error_message=f"Group {group_id} {reason}.",
    )


def _topology(draft: StreamsDraft) -> Topology | None:
    """With the partitions of internal topics where they are known."""
    kept = draft.group.topology
    if kept is None:
        return None
    found = check_topics(draft).subtopologies if kept.subtopologies else {}
    subtopologies = []
    for one in sorted(kept.subtopologies, key=lambda one: one.subtopology_id):
        configured = found.get(one.subtopology_id)
        if configured is None:
            changelogs = _kept(one.state_changelog_topics)
            repartitions = _kept(one.repartition_source_topics)
        else:
            changelogs, repartitions = configured.changelog_topics, configured.repartition_topics
        subtopologies.append(_subtopology(one, changelogs, repartitions))
    return Topology(epoch=kept.epoch, subtopologies=subtopologies)


def _subtopology(
    kept: Kept, changelogs: Iterable[InternalTopic], repartitions: Iterable[InternalTopic]
) -> Subtopology:
    return Subtopology(
        subtopology_id=kept.subtopology_id,
        source_topics=sorted(kept.source_topics),
        repartition_sink_topics=sorted(kept.repartition_sink_topics),
        state_changelog_topics=_topic_infos(changelogs),
        repartition_source_topics=_topic_infos(repartitions),
    )


def _kept(topics: Iterable[KeptTopic]) -> tuple[InternalTopic, ...]:
    return tuple(
        InternalTopic(
            one.name,
            one.partitions,
            one.replication_factor,
            tuple((each.key, each.value) for each in one.topic_configs),
        )
        for one in topics
    )


def _topic_infos(topics: Iterable[InternalTopic]) -> list[TopicInfo]:
    return [
        TopicInfo(
            name=one.name,
            partitions=one.partition_count,
            replication_factor=one.replication_factor,
            topic_configs=[KeyValue(key=key, value=value) for key, value in one.configs],
        )
        for one in sorted(topics)
    ]


def _member(group: StreamsGroup, member: StreamsMember) -> Member:
    endpoint = member.endpoint
    return Member(
        member_id=member.member_id,
        member_epoch=member.epoch,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        topology_epoch=member.topology_epoch,
        process_id=member.process_id,
        user_endpoint=None if endpoint is None else Endpoint(host=endpoint[0], port=endpoint[1]),
        client_tags=[KeyValue(key=key, value=value) for key, value in member.tags],
        assignment=_assignment(member.owned.tasks),
        target_assignment=_assignment(group.target_of(member.member_id)),
    )


def _assignment(tasks: TaskSet) -> Assignment:
    return Assignment(
        active_tasks=_task_ids(tasks.active),
        standby_tasks=_task_ids(tasks.standby),
        warmup_tasks=_task_ids(tasks.warmup),
    )


def _task_ids(tasks: Tasks) -> list[TaskIds]:
    return [TaskIds(subtopology_id=name, partitions=sorted(tasks[name])) for name in sorted(tasks)]
