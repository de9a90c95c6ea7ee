"""What a topology comes to with the topics of the cluster: how many tasks each subtopology has,
which internal topics are missing and how they are to be made, or what does not fit.

Pure functions of the topology and the topics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from penstock.group.consumer.topic import TopicView
from penstock.group.streams.partition_count import PartitionCounts
from penstock.group.streams.status import StatusCode, TopicProblem
from penstock.group.streams.topology import sources_of
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.records.streams_group_topology import (
    StreamsGroupTopologyValue,
    Subtopology,
    TopicInfo,
)

_NAMES_SHOWN = 3
ItemT = TypeVar("ItemT")


class InternalTopic(NamedTuple):
    """A topic that the application needs and the cluster makes for it."""

    name: str
    partition_count: int
    replication_factor: int
    """0 for the cluster's default."""
    configs: tuple[tuple[str, str], ...]


class ConfiguredSubtopology(NamedTuple):
    task_count: int
    is_stateful: bool
    changelog_topics: tuple[InternalTopic, ...]
    repartition_topics: tuple[InternalTopic, ...]


class ConfiguredTopology(NamedTuple):
    subtopologies: Mapping[str, ConfiguredSubtopology]
    """Empty while something does not fit."""
    missing: tuple[InternalTopic, ...] = ()
    problem: TopicProblem | None = None

    @property
    def is_ready(self) -> bool:
        return self.problem is None


def configure(topology: StreamsGroupTopologyValue, topics: TopicView) -> ConfiguredTopology:
    """STREAMS_INVALID_TOPOLOGY where no topics could make it work."""
    groups = [_copartitioned(one) for one in topology.subtopologies]
    try:
        _check_sources(topology, topics)
        counts = PartitionCounts(topology, topics)
        counts.decide([each for found in groups for each in found])
        subtopologies = {
            one.subtopology_id: _configured(one, counts) for one in topology.subtopologies
        }
        missing = tuple(_missing(subtopologies.values(), topics))
    except TopicProblem as problem:
        return ConfiguredTopology({}, (), problem)
    if not missing:
        return ConfiguredTopology(subtopologies)
    names = _summary(sorted(one.name for one in missing))
    detail = f"Internal topics are missing: {names}"
    return ConfiguredTopology(
        subtopologies, missing, TopicProblem(StatusCode.MISSING_INTERNAL_TOPICS, detail)
    )


def _copartitioned(subtopology: Subtopology) -> list[frozenset[str]]:
    """Its groups of topics, which are told by their places."""
    found = []
    repartitions = subtopology.repartition_source_topics
    for group in subtopology.copartition_groups:
        names = [*_at(subtopology.source_topics, group.source_topics)]
        names += (one.name for one in _at(repartitions, group.repartition_source_topics))
        found.append(frozenset(names))
    return found


def _at(items: list[ItemT], places: Iterable[int]) -> Iterator[ItemT]:
    for place in places:
        if not 0 <= place < len(items):
            raise ApiError(
                ErrorCode.STREAMS_INVALID_TOPOLOGY,
                f"A copartition group names topic {place} of {len(items)}.",
            )
        yield items[place]


def _check_sources(topology: StreamsGroupTopologyValue, topics: TopicView) -> None:
    named = {name for one in topology.subtopologies for name in one.source_topics}
    missing = sorted(name for name in named if topics.get(name) is None)
    if missing:
        raise TopicProblem(
            StatusCode.MISSING_SOURCE_TOPICS, f"Source topics {_summary(missing)} are missing."
        )


def _configured(subtopology: Subtopology, counts: PartitionCounts) -> ConfiguredSubtopology:
    task_count = max(map(counts.of, sources_of(subtopology)))
    return ConfiguredSubtopology(
        task_count,
        bool(subtopology.state_changelog_topics),
        tuple(_internal(one, task_count) for one in subtopology.state_changelog_topics),
        tuple(_internal(one, counts.wanted(one)) for one in subtopology.repartition_source_topics),
    )


def _internal(told: TopicInfo, partition_count: int) -> InternalTopic:
    configs = tuple((one.key, one.value) for one in told.topic_configs)
    return InternalTopic(told.name, partition_count, told.replication_factor, configs)


def _missing(
    subtopologies: Iterable[ConfiguredSubtopology], topics: TopicView
) -> Iterator[InternalTopic]:
    wanted = {
        one.name: one
        for subtopology in subtopologies
        for one in (*subtopology.repartition_topics, *subtopology.changelog_topics)
    }
    for name, one in wanted.items():
        found = topics.get(name)
        if found is None:
            yield one
        elif found.partition_count != one.partition_count:
            raise TopicProblem(
                StatusCode.INCORRECTLY_PARTITIONED_TOPICS,
                f"Existing topic {name} has different number of partitions: expected "
                f"{one.partition_count}, found {found.partition_count}",
            )


def _summary(names: list[str]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return f"{shown} and {more} additional topics" if more > 0 else shown
