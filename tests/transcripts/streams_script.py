"""The commands of group transcripts that are about the streams protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.group import Caller
from penstock.machine import Decision, Parked
from penstock.protocol.entity import Entity
from penstock.protocol.messages.streams_group_heartbeat import (
    CopartitionGroup,
    KeyValue,
    RequestEndpoint,
    RequestTaskIds,
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TopicInfo,
    Topology,
)

if TYPE_CHECKING:
    from penstock.group import GroupEntry
    from tests.transcripts.group_world import GroupWorld

Options = dict[str, str]

WORD_COUNT = "0 in:t out:r/1 via:r store:c"
"""Reads t, writes it anew by another key to r, and counts that in a store with changelog c."""


def short_tasks(value: Entity) -> str | None:
    """`0:1,2@3,3`: subtopology, tasks, and the epochs they were assigned in if there are any."""
    name, partitions = getattr(value, "subtopology_id", None), getattr(value, "partitions", None)
    if name is None or not isinstance(partitions, list):
        return None
    shown = f"{name}:{','.join(map(str, partitions))}"
    epochs = getattr(value, "assignment_epochs", None)
    return shown + (f"@{','.join(map(str, epochs))}" if epochs else "")


def topology_of(text: str, epoch: int = 0) -> Topology:
    """`ID in:t,u out:r via:r*4 store:c join:t,r`, subtopologies apart by a slash."""
    return Topology(epoch=epoch, subtopologies=[_subtopology(one) for one in text.split("/")])


def _subtopology(text: str) -> Subtopology:
    name, *words = text.split()
    parts = {key: found.split(",") for key, found in (word.split(":", 1) for word in words)}
    sources, repartitions = parts.get("in", []), [_topic(one) for one in parts.get("via", [])]
    joined = parts.get("join")
    names = [one.name for one in repartitions]
    group = CopartitionGroup(
        source_topics=[sources.index(one) for one in joined or () if one in sources],
        repartition_source_topics=[names.index(one) for one in joined or () if one in names],
    )
    return Subtopology(
        subtopology_id=name,
        source_topics=sources,
        repartition_sink_topics=parts.get("out", []),
        repartition_source_topics=repartitions,
        state_changelog_topics=[
            TopicInfo(name=one, topic_configs=[KeyValue(key="cleanup.policy", value="compact")])
            for one in parts.get("store", [])
        ],
        copartition_groups=[group] if joined else [],
    )


def _topic(text: str) -> TopicInfo:
    name, _, partitions = text.partition("*")
    return TopicInfo(name=name, partitions=int(partitions or 0))


def _tasks(text: str) -> list[RequestTaskIds]:
    found = (part.partition(":") for part in text.split(";") if part)
    return [
        RequestTaskIds(subtopology_id=name, partitions=[int(one) for one in tasks.split(",")])
        for name, _, tasks in found
    ]


def _endpoint(text: str | None) -> RequestEndpoint | None:
    if text is None:
        return None
    host, _, port = text.partition(":")
    return RequestEndpoint(host=host, port=int(port))


class StreamsCommands:
    world: GroupWorld

    def take(self, decision: Decision[GroupEntry, object]) -> list[str]:
        raise NotImplementedError

    def do_stream(self, words: list[str], options: Options) -> list[str]:
        """`stream GROUP MEMBER EPOCH [topology='…' tasks=0:0,1;1:0 standby=… process=… …]`"""
        joining = words[2] == "0"
        tasks = options.get("tasks", "" if joining or "standby" in options else None)
        topology = options.get("topology", WORD_COUNT if joining else None)
        request = StreamsGroupHeartbeatRequest(
            group_id=words[0],
            member_id=words[1],
            member_epoch=int(words[2]),
            endpoint_information_epoch=int(options.get("endpoints", "0")),
            instance_id=options.get("instance"),
            rebalance_timeout_ms=int(options.get("rebalance", "60000" if joining else "-1")),
            topology=None if not topology else topology_of(topology, int(options.get("te", "0"))),
            active_tasks=None if tasks is None else _tasks(tasks),
            standby_tasks=None if tasks is None else _tasks(options.get("standby", "")),
            warmup_tasks=None if tasks is None else [],
            process_id=options.get("process", words[1] if joining else None),
            user_endpoint=_endpoint(options.get("endpoint")),
            shutdown_application="shutdown" in options,
        )
        caller = Caller(0, "client", "/host")
        decision = self.world.shard.streams.decide_heartbeat(request, caller, self.world.now_ms)
        outcome = decision.reply
        assert not isinstance(outcome, Parked)
        lines = self.take(decision._replace(reply=outcome.response))  # type: ignore[arg-type]
        lines += [f"missing {one.name} {one.partition_count}" for one in outcome.missing]
        return lines

    def do_describe_streams(self, words: list[str], _: Options) -> list[str]:
        return self.take(self.world.shard.streams.decide_describe(words, self.world.now_ms))
