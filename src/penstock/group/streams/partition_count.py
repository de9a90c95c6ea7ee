"""How many partitions the internal topics of a topology shall have."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.group.consumer.topic import TopicView
from penstock.group.streams.status import StatusCode, TopicProblem
from penstock.group.streams.topology import sources_of
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.records.streams_group_topology import (
    StreamsGroupTopologyValue,
    Subtopology,
    TopicInfo,
)


class PartitionCounts:
    """Those of topics that are there, and those decided for topics to come."""

    def __init__(self, topology: StreamsGroupTopologyValue, topics: TopicView) -> None:
        self._subtopologies = topology.subtopologies
        self._topics = topics
        repartitions = [
            one for each in topology.subtopologies for one in each.repartition_source_topics
        ]
        self._fixed = {one.name: one.partitions for one in repartitions if one.partitions}
        self._repartition_names = {one.name for one in repartitions}
        self._decided: dict[str, int] = dict(self._fixed)

    def of(self, name: str) -> int:
        """Of a topic that is there what it has, else what was decided."""
        found = self._known(name)
        if found is None:
            raise _invalid(f"Nothing says how many partitions topic {name} has.")
        return found

    def wanted(self, repartition: TopicInfo) -> int:
        return repartition.partitions or self._decided[repartition.name]

    def decide(self, copartitioned: Iterable[frozenset[str]]) -> None:
        for one in self._subtopologies:
            if not any(sources_of(one)):
                raise _invalid(f"No source topics found for subtopology {one.subtopology_id}.")
        self._decide_sinks()
        if not self._repartition_names <= self._decided.keys():
            raise _invalid("A repartition source topic is never used as a sink topic.")
        for group in copartitioned:
            self._copartition(group)

    def _known(self, name: str) -> int | None:
        topic = self._topics.get(name)
        return self._decided.get(name) if topic is None else topic.partition_count

    def _decide_sinks(self) -> None:
        """A repartition topic has as many partitions as who writes it has tasks; the writer may
        read repartition topics itself, which have to be decided before."""
        left = list(self._subtopologies)
        while left:
            undecided = [one for one in left if not self._decide_sinks_of(one)]
            if len(undecided) == len(left):
                raise _invalid(
                    "The partitions of repartition topics cannot be decided: the topology may "
                    "have loops."
                )
            left = undecided

    def _decide_sinks_of(self, subtopology: Subtopology) -> bool:
        sinks = [one for one in subtopology.repartition_sink_topics if one not in self._decided]
        if not sinks:
            return True
        counts = [self._decided.get(one.name) for one in subtopology.repartition_source_topics]
        counts += [self._known(name) for name in subtopology.source_topics]
        known = [one for one in counts if one is not None]
        if not known:
            return False
        self._decided.update(dict.fromkeys(sinks, max(known)))
        return True

    def _copartition(self, group: frozenset[str]) -> None:
        repartitions = {name: self.of(name) for name in group if name in self._repartition_names}
        others = {name: self.of(name) for name in group if name not in repartitions}
        fixed = {name: found for name, found in self._fixed.items() if name in repartitions}
        if others or fixed:
            wanted = _same(others or fixed)
        else:
            wanted = max(repartitions.values(), default=0)
        for name, found in fixed.items():
            if found != wanted:
                raise _misfit(
                    f"Number of partitions [{found}] of repartition topic [{name}] doesn't match "
                    f"number of partitions [{wanted}] of the source topic."
                )
        self._decided.update(dict.fromkeys(repartitions, wanted))


def _same(counts: dict[str, int]) -> int:
    found = set(counts.values())
    if len(found) > 1:
        shown = ", ".join(f"{name}={counts[name]}" for name in sorted(counts))
        raise _misfit(f"Following topics do not have the same number of partitions: [{shown}]")
    return found.pop()


def _misfit(detail: str) -> TopicProblem:
    return TopicProblem(StatusCode.INCORRECTLY_PARTITIONED_TOPICS, detail)


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.STREAMS_INVALID_TOPOLOGY, message)
