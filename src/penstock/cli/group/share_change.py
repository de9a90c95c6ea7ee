"""Offsets of share groups, set and deleted, while they have no members."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from penstock.cli.failure import Failure
from penstock.cli.group.reader import ClusterReader
from penstock.cli.group.refusal import HAS_MEMBERS, check_all, members_alive
from penstock.cli.group.state import Group, Place
from penstock.cli.operator.link import check
from penstock.protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
)
from penstock.protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
    DeleteShareGroupOffsetsResponse,
)


def set_share_offsets(
    reader: ClusterReader, group: Group, offsets: Mapping[Place, int | None]
) -> None:
    """None deletes one, which share groups do by whole topics: nothing is done where that would
    delete others."""
    gone = _topics_to_delete(reader, group, offsets)
    _alter(reader, group, {place: at for place, at in offsets.items() if at is not None})
    _delete(reader, group, gone)


def _topics_to_delete(
    reader: ClusterReader, group: Group, offsets: Mapping[Place, int | None]
) -> list[str]:
    topics = sorted({topic for (topic, _), at in offsets.items() if at is None})
    known = reader.committed([group]).get(group.name, {}) if topics else {}
    for place in known:
        if place[0] in topics and offsets.get(place, -1) is not None:
            raise Failure(
                f"offsets of a share group are deleted by whole topics, and {group.name} is to "
                f"keep some of {place[0]}; `penstock groups reset` sets them instead"
            )
    return topics


def _alter(reader: ClusterReader, group: Group, offsets: Mapping[Place, int]) -> None:
    topics: dict[str, list[AlterShareGroupOffsetsRequestPartition]] = defaultdict(list)
    for (topic, partition), offset in offsets.items():
        topics[topic].append(
            AlterShareGroupOffsetsRequestPartition(partition_index=partition, start_offset=offset)
        )
    if not topics:
        return
    request = AlterShareGroupOffsetsRequest(
        group_id=group.name,
        topics=[
            AlterShareGroupOffsetsRequestTopic(topic_name=topic, partitions=parts)
            for topic, parts in topics.items()
        ],
    )
    answer = reader.connection(group.coordinator).call(request, AlterShareGroupOffsetsResponse)
    _check(group, answer.error_code, answer.error_message)
    check_all(
        group.name,
        (
            (topic.topic_name, each.partition_index, each.error_code)
            for topic in answer.responses
            for each in topic.partitions
        ),
    )


def _delete(reader: ClusterReader, group: Group, topics: list[str]) -> None:
    if not topics:
        return
    request = DeleteShareGroupOffsetsRequest(
        group_id=group.name,
        topics=[DeleteShareGroupOffsetsRequestTopic(topic_name=each) for each in topics],
    )
    answer = reader.connection(group.coordinator).call(request, DeleteShareGroupOffsetsResponse)
    _check(group, answer.error_code, answer.error_message)
    for each in answer.responses:
        _check(group, each.error_code, each.error_message)


def _check(group: Group, code: int, message: str | None) -> None:
    if code in HAS_MEMBERS:
        raise members_alive(group.name)
    check(code, message, f"group {group.name}")
