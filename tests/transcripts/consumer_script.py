"""The commands of group transcripts that are about the consumer protocol and topics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.group import Caller, Topic
from penstock.machine import Decision, Parked
from penstock.model.error import ProtocolError
from penstock.protocol.codec import decode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    RequestTopicPartitions,
)
from penstock.protocol.messages.records.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
)

if TYPE_CHECKING:
    from penstock.group import GroupEntry
    from tests.transcripts.group_world import GroupWorld

Options = dict[str, str]


def short_partitions(value: Entity, world: GroupWorld) -> str | None:
    """`t:0,1@3,4`: topic, partitions, and the epochs they were assigned in if there are any."""
    topic_id, partitions = getattr(value, "topic_id", None), getattr(value, "partitions", None)
    if topic_id is None or partitions is None:
        return None
    if any(not isinstance(one, int) for one in partitions):
        return None
    shown = f"{world.topics.name_of(topic_id) or 'gone'}:{','.join(map(str, partitions))}"
    epochs = getattr(value, "assignment_epochs", None)
    return shown + (f"@{','.join(map(str, epochs))}" if epochs else "")


def assignment_text(value: bytes) -> str | None:
    """What a classic member is told to read; None for bytes that are something else."""
    if value[:2] != b"\0\0":
        return None
    try:
        found, end = decode(ConsumerProtocolAssignment, 0, value, 2)
    except ProtocolError:
        return None
    topics = found.assigned_partitions
    shown = ";".join(f"{one.topic}:{','.join(map(str, one.partitions))}" for one in topics)
    return (shown or "nothing") if end == len(value) else None


class ConsumerCommands:
    world: GroupWorld

    def take(self, decision: Decision[GroupEntry, object]) -> list[str]:
        raise NotImplementedError

    def do_topic(self, words: list[str], _: Options) -> list[str]:
        """`topic NAME PARTITIONS`; none deletes it."""
        name, count = words[0], int(words[1])
        view = self.world.topics
        before = view.get(name)
        if count == 0:
            del view.topics[name]
        elif before is None:
            view.topics[name] = Topic(bytes([view.version + 1]) * 16, count)
        else:
            view.topics[name] = Topic(before.topic_id, count)
        view.version += 1
        return self.take(self.world.shard.decide_topics_changed({name}))

    def do_consume(self, words: list[str], options: Options) -> list[str]:
        """`consume GROUP MEMBER EPOCH [topics=t,u regex=… owned=t:0,1;u:0 instance=… …]`"""
        joining = words[2] == "0"
        owned = options.get("owned", "" if joining else None)
        topics = options.get("topics", "t" if joining and "regex" not in options else None)
        default_timeout = "60000" if joining else "-1"
        request = ConsumerGroupHeartbeatRequest(
            group_id=words[0],
            member_id="" if words[1] == "-" else words[1],
            member_epoch=int(words[2]),
            instance_id=options.get("instance"),
            rack_id=options.get("rack"),
            rebalance_timeout_ms=int(options.get("rebalance", default_timeout)),
            subscribed_topic_names=None if topics is None else topics.split(",") if topics else [],
            subscribed_topic_regex=options.get("regex"),
            server_assignor=options.get("assignor"),
            topic_partitions=None if owned is None else self._owned(owned),
        )
        caller = Caller(int(options.get("v", "1")), "client", "/host")
        return self.take(
            self.world.shard.consumer.decide_heartbeat(request, caller, self.world.now_ms)
        )

    def _owned(self, text: str) -> list[RequestTopicPartitions]:
        owned = []
        for part in filter(None, text.split(";")):
            name, _, partitions = part.partition(":")
            topic = self.world.topics.get(name)
            assert topic is not None
            owned.append(
                RequestTopicPartitions(
                    topic_id=topic.topic_id, partitions=[int(one) for one in partitions.split(",")]
                )
            )
        return owned

    def do_describe_consumers(self, words: list[str], _: Options) -> list[str]:
        decision = self.world.shard.consumer.decide_describe(words)
        assert not isinstance(decision.reply, Parked)
        lines = []
        for group in decision.reply:
            lines += self.take(Decision((), [group]))
        return lines
