"""The topology of a streams application: as a member tells it, and as it is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.protocol.messages.records.streams_group_topology import (
    CopartitionGroup,
    StreamsGroupTopologyValue,
    Subtopology,
    TopicConfig,
    TopicInfo,
)
from penstock.protocol.messages.streams_group_heartbeat import TopicInfo as ToldTopicInfo
from penstock.protocol.messages.streams_group_heartbeat import Topology


def kept_topology(told: Topology) -> StreamsGroupTopologyValue:
    """As it goes into the log: in an order that does not depend on who tells it."""
    return StreamsGroupTopologyValue(
        epoch=told.epoch,
        subtopologies=[
            Subtopology(
                subtopology_id=one.subtopology_id,
                source_topics=list(one.source_topics),
                source_topic_regex=list(one.source_topic_regex),
                state_changelog_topics=_kept_topics(one.state_changelog_topics),
                repartition_sink_topics=list(one.repartition_sink_topics),
                repartition_source_topics=_kept_topics(one.repartition_source_topics),
                copartition_groups=[
                    CopartitionGroup(
                        source_topics=list(group.source_topics),
                        source_topic_regex=list(group.source_topic_regex),
                        repartition_source_topics=list(group.repartition_source_topics),
                    )
                    for group in one.copartition_groups
                ],
            )
            for one in sorted(told.subtopologies, key=lambda one: one.subtopology_id)
        ],
    )


def is_same(one: StreamsGroupTopologyValue, other: StreamsGroupTopologyValue) -> bool:
    return one.epoch == other.epoch and _by_id(one) == _by_id(other)


def _by_id(topology: StreamsGroupTopologyValue) -> dict[str, Subtopology]:
    return {one.subtopology_id: one for one in topology.subtopologies}


def sources_of(subtopology: Subtopology) -> Iterator[str]:
    """Whose partitions make its tasks."""
    yield from subtopology.source_topics
    yield from (one.name for one in subtopology.repartition_source_topics)


def source_topics(topology: StreamsGroupTopologyValue) -> dict[str, str]:
    return {
        name: subtopology.subtopology_id
        for subtopology in topology.subtopologies
        for name in sources_of(subtopology)
    }


def required_topics(topology: StreamsGroupTopologyValue) -> frozenset[str]:
    changelogs = (one.name for sub in topology.subtopologies for one in sub.state_changelog_topics)
    return frozenset((*source_topics(topology), *changelogs))


def told_topics(told: Topology) -> list[str]:
    """Every topic that a member's topology names, each once."""
    names: dict[str, None] = {}
    for one in told.subtopologies:
        names.update(dict.fromkeys(one.source_topics))
        names.update(dict.fromkeys(one.repartition_sink_topics))
        names.update(dict.fromkeys(each.name for each in one.repartition_source_topics))
        names.update(dict.fromkeys(each.name for each in one.state_changelog_topics))
    return list(names)


def _kept_topics(told: Iterable[ToldTopicInfo]) -> list[TopicInfo]:
    return [
        TopicInfo(
            name=one.name,
            partitions=one.partitions,
            replication_factor=one.replication_factor,
            topic_configs=[
                TopicConfig(key=each.key, value=each.value) for each in one.topic_configs
            ],
        )
        for one in told
    ]
