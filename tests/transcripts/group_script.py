"""The commands of group transcripts, each turned into a request to a GroupShard."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

from penstock.group import (
    Caller,
    GroupConfig,
    GroupEntry,
    TxnMarker,
    fetch_response,
    fetched_groups,
)
from penstock.group.timer import (
    InitialRebalanceTimer,
    JoinTimer,
    RejoinTimer,
    ResyncTimer,
    RetentionTimer,
    RevocationTimer,
    SessionTimer,
    SyncTimer,
)
from penstock.machine import Decision, Parked, TimerCancel, TimerChange, TimerKey
from penstock.model.error import ErrorCode
from penstock.protocol.codec import decode, encode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.describe_groups import DescribeGroupsResponse
from penstock.protocol.messages.heartbeat import HeartbeatRequest
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from penstock.protocol.messages.list_groups import ListGroupsRequest
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from penstock.protocol.messages.records.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
)
from penstock.protocol.messages.records.group_metadata import MemberMetadata
from penstock.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from penstock.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.transcripts.consumer_script import ConsumerCommands, assignment_text, short_partitions
from tests.transcripts.group_world import GroupWorld
from tests.transcripts.streams_script import StreamsCommands, short_tasks
from tests.transcripts.transcript import Names

Options = dict[str, str]


def subscription(*topics: str) -> bytes:
    return b"\0\0" + encode(ConsumerProtocolSubscription(topics=topics), 0)


class GroupNames(Names):
    """Shows members by what matters of them: id, instance, timeouts, topics, assignment."""

    world: GroupWorld

    def show(self, value: object) -> str:
        partitions = isinstance(value, Entity) and short_partitions(value, self.world)
        if partitions:
            return partitions
        tasks = isinstance(value, Entity) and short_tasks(value)
        if tasks:
            return tasks
        assigned = assignment_text(value) if isinstance(value, bytes) else None
        if assigned is not None:
            return assigned
        if isinstance(value, bytes) and value[:2] == b"\0\0" and any(value):
            found, _ = decode(ConsumerProtocolSubscription, 0, value, 2)
            return "+".join(found.topics)
        if isinstance(value, bytes) and len(value) != 16:
            return value.decode()
        if isinstance(value, MemberMetadata):
            instance = f"({value.group_instance_id})" if value.group_instance_id else ""
            times = f"{value.session_timeout}/{value.rebalance_timeout}"
            parts = [value.member_id + instance, times, self.show(value.subscription)]
            return " ".join([*parts, self.show(value.assignment) or "-"])
        return super().show(value)

    def fields(self, value: Entity, skip: tuple[str, ...] = ()) -> list[str]:
        shown = super().fields(value, (*skip, "error_code", "metadata_hash"))
        code = getattr(value, "error_code", 0)
        if "error_code" not in skip and code:
            shown.append(ErrorCode(code).name)
        return [one for one in shown if not one.endswith("=")]


def _settings(options: Options) -> dict[str, Any]:
    return {key: int(value) if value.isdigit() else value for key, value in options.items()}


class GroupScript(ConsumerCommands, StreamsCommands):
    def __init__(self) -> None:
        self.names = GroupNames()
        self._open(GroupConfig())

    def _open(self, config: GroupConfig) -> None:
        self.world = self.names.world = GroupWorld(config)

    def run(self, command: list[str]) -> list[str]:
        out: list[str] = []
        for line in command:
            name, *words = shlex.split(line)
            method = getattr(self, "do_" + name.replace("-", "_"))
            options = dict(word.split("=", 1) for word in words if "=" in word)
            out += method([word for word in words if "=" not in word], options)
        return out

    # --- showing ---

    def take(self, decision: Decision[GroupEntry, object]) -> list[str]:
        self.world.take(decision)
        return self.show(decision)

    def show(self, decision: Decision[GroupEntry, object]) -> list[str]:
        lines = [self._record(record) for record in decision.records]
        lines += [self._timer(change) for change in decision.timers]
        lines += [f"#{ticket} <- {self._reply(answer)}" for ticket, answer in decision.answers]
        if isinstance(decision.reply, Parked):
            lines.append(f"-> parked as #{decision.reply.key}")
        elif isinstance(decision.reply, list):
            lines += [f"-> {self._reply(one)}" for one in decision.reply] or ["-> none"]
        elif decision.reply is not None:
            lines.append(f"-> {self._reply(decision.reply)}")
        return lines

    def _record(self, record: GroupEntry) -> str:
        if isinstance(record, TxnMarker):
            end = "commit" if record.committed else "abort"
            return f"marker of producer {record.producer_id}: {end}"
        key = " ".join([record.key.NAME, *self.names.fields(record.key)])
        if record.value is None:
            return f"record {key} = tombstone"
        fields = self.names.fields(record.value)
        whose = f" of producer {record.producer_id}" if record.producer_id != -1 else ""
        return f"record {key} = v{record.value_version} {' '.join(fields)}{whose}"

    def _timer(self, change: TimerChange) -> str:
        if isinstance(change, TimerCancel):
            return f"cancel {_timer_name(change.key)}"
        return f"timer {_timer_name(change.key)} +{change.deadline_ms - self.world.now_ms}"

    def _reply(self, reply: object) -> str:
        if not isinstance(reply, Entity):
            return str(reply)
        error = ErrorCode(getattr(reply, "error_code", 0)).name
        return " ".join([error, *self.names.fields(reply, ("error_code", "throttle_time_ms"))])

    # --- commands ---

    def do_settings(self, _: list[str], options: Options) -> list[str]:
        self._open(GroupConfig(**_settings(options)))
        return []

    def do_join(self, words: list[str], options: Options) -> list[str]:
        """`join GROUP CLIENT [member=… instance=… topics=t,u protocols=range,sticky …]`"""
        topics = options.get("topics", "t").split(",")
        request = JoinGroupRequest(
            group_id=words[0],
            member_id=options.get("member", ""),
            group_instance_id=options.get("instance"),
            session_timeout_ms=int(options.get("session", "10000")),
            rebalance_timeout_ms=int(options.get("rebalance", "30000")),
            protocol_type=options.get("type", "consumer"),
            protocols=[
                JoinGroupRequestProtocol(name=name, metadata=subscription(*topics))
                for name in options.get("protocols", "range").split(",")
                if name
            ],
        )
        caller = Caller(int(options.get("v", "9")), words[1], "/host")
        return self.take(self.world.shard.classic.decide_join(request, caller, self.world.now_ms))

    def do_sync(self, words: list[str], options: Options) -> list[str]:
        """`sync GROUP MEMBER GENERATION [MEMBER=ASSIGNMENT …]`; version 5 names the protocol."""
        own = ("instance", "type", "protocol", "v")
        caller = Caller(int(options.get("v", "5" if "protocol" in options else "4")))
        request = SyncGroupRequest(
            group_id=words[0],
            member_id=words[1],
            generation_id=int(words[2]),
            group_instance_id=options.get("instance"),
            protocol_type=options.get("type"),
            protocol_name=options.get("protocol"),
            assignments=[
                SyncGroupRequestAssignment(member_id=member, assignment=text.encode())
                for member, text in options.items()
                if member not in own
            ],
        )
        return self.take(self.world.shard.classic.decide_sync(request, caller, self.world.now_ms))

    def do_heartbeat(self, words: list[str], options: Options) -> list[str]:
        request = HeartbeatRequest(
            group_id=words[0],
            member_id=words[1],
            generation_id=int(words[2]),
            group_instance_id=options.get("instance"),
        )
        return self.take(self.world.shard.classic.decide_heartbeat(request, self.world.now_ms))

    def do_leave(self, words: list[str], options: Options) -> list[str]:
        """`leave GROUP MEMBER … [instance=…]`"""
        version = int(options.get("v", "5"))
        instance = options.get("instance")
        members = [MemberIdentity(member_id=one, group_instance_id=instance) for one in words[1:]]
        if not members and instance is not None:
            members = [MemberIdentity(group_instance_id=instance)]
        request = LeaveGroupRequest(group_id=words[0], members=members)
        if version < 3:
            request = LeaveGroupRequest(group_id=words[0], member_id=words[1])
        classic = self.world.shard.classic
        return self.take(classic.decide_leave(request, Caller(version), self.world.now_ms))

    def do_advance(self, words: list[str], _: Options) -> list[str]:
        """Let time pass; what the timers bring is shown with the time it came."""
        until_ms = self.world.now_ms + int(words[0])
        lines = []
        while (rung := self.world.ring(until_ms)) is not None:
            key, decision = rung
            lines.append(f"@{self.world.now_ms} {_timer_name(key)}")
            lines += ["  " + line for line in self.show(decision)]
        return lines

    def do_restart(self, _: list[str], options: Options) -> list[str]:
        """With other settings, if any are named."""
        self.world.config = replace(self.world.config, **_settings(options))
        return self.show(self.world.start())

    def do_commit(self, words: list[str], options: Options) -> list[str]:
        """`commit GROUP TOPIC-PARTITION:OFFSET[:METADATA] … [member=… generation=…]`"""
        topics = []
        for word in words[1:]:
            where, offset, metadata = [*word.split(":"), "", ""][:3]
            name, _, index = where.rpartition("-")
            partition = OffsetCommitRequestPartition(
                partition_index=int(index),
                committed_offset=int(offset),
                committed_leader_epoch=int(options.get("epoch", "-1")),
                committed_metadata=metadata or None,
            )
            topic_id = bytes([int(options.get("id", "0"))]) * 16
            topics.append(
                OffsetCommitRequestTopic(name=name, topic_id=topic_id, partitions=[partition])
            )
        request = OffsetCommitRequest(
            group_id=words[0],
            member_id=options.get("member", ""),
            group_instance_id=options.get("instance"),
            generation_id_or_member_epoch=int(options.get("generation", "-1")),
            retention_time_ms=int(options.get("retention", "-1")),
            topics=topics,
        )
        caller = Caller(int(options.get("v", "9")))
        return self.take(self.world.shard.offsets.decide_commit(request, caller, self.world.now_ms))

    def do_txn_commit(self, words: list[str], options: Options) -> list[str]:
        topics = []
        for word in words[2:]:
            where, _, offset = word.partition(":")
            name, _, index = where.rpartition("-")
            partition = TxnOffsetCommitRequestPartition(
                partition_index=int(index), committed_offset=int(offset)
            )
            topics.append(TxnOffsetCommitRequestTopic(name=name, partitions=[partition]))
        request = TxnOffsetCommitRequest(
            group_id=words[0],
            producer_id=int(words[1]),
            member_id=options.get("member", ""),
            generation_id=int(options.get("generation", "-1")),
            topics=topics,
        )
        return self.take(self.world.shard.offsets.decide_txn_commit(request, self.world.now_ms))

    def do_marker(self, words: list[str], _: Options) -> list[str]:
        offsets = self.world.shard.offsets
        return self.take(offsets.decide_end_txn(int(words[0]), 0, words[1] == "commit"))

    def do_fetch(self, words: list[str], options: Options) -> list[str]:
        """`fetch GROUP [TOPIC-PARTITION …]`; without partitions, all."""
        topics: list[OffsetFetchRequestTopics] | None = None
        for word in words[1:]:
            name, _, index = word.rpartition("-")
            topics = topics or []
            topic_id = bytes([int(options.get("id", "0"))]) * 16
            topics.append(
                OffsetFetchRequestTopics(
                    name=name, topic_id=topic_id, partition_indexes=[int(index)]
                )
            )
        request = OffsetFetchRequest(
            groups=[OffsetFetchRequestGroup(group_id=words[0], topics=topics)],
            require_stable="stable" in options,
        )
        (group,) = fetched_groups(request, 9)
        decision = self.world.shard.offsets.decide_fetch(group, request.require_stable)
        assert not isinstance(decision.reply, Parked)
        (found,) = fetch_response(request, [decision.reply], 9).groups
        if found.error_code:
            return self.take(decision)
        return self.take(Decision((), found.topics))

    def do_delete_offsets(self, words: list[str], _: Options) -> list[str]:
        topics = []
        for word in words[1:]:
            name, _dash, index = word.rpartition("-")
            partition = OffsetDeleteRequestPartition(partition_index=int(index))
            topics.append(OffsetDeleteRequestTopic(name=name, partitions=[partition]))
        request = OffsetDeleteRequest(group_id=words[0], topics=topics)
        return self.take(self.world.shard.offsets.decide_delete(request))

    def do_topics_deleted(self, words: list[str], options: Options) -> list[str]:
        topic_id = bytes([int(options.get("id", "0"))]) * 16
        topics = dict.fromkeys(words, topic_id)
        return self.take(self.world.shard.offsets.decide_topics_deleted(topics))

    def do_list(self, _: list[str], options: Options) -> list[str]:
        request = ListGroupsRequest(
            states_filter=options.get("states", "").split(",") if "states" in options else (),
            types_filter=options.get("types", "").split(",") if "types" in options else (),
        )
        return self.take(self.world.shard.admin.decide_list(request))

    def do_describe(self, words: list[str], options: Options) -> list[str]:
        decision = self.world.shard.admin.decide_describe(words, Caller(int(options.get("v", "6"))))
        assert not isinstance(decision.reply, Parked)
        return self.take(Decision((), DescribeGroupsResponse(groups=decision.reply).groups))

    def do_delete_groups(self, words: list[str], _: Options) -> list[str]:
        return self.take(self.world.shard.admin.decide_delete(words))


def _timer_name(key: TimerKey) -> str:
    if isinstance(key, SessionTimer):
        return f"session {key.group_id} {key.member_id}"
    if isinstance(key, InitialRebalanceTimer):
        return f"initial rebalance {key.group_id}"
    if isinstance(key, JoinTimer):
        return f"join {key.group_id}"
    if isinstance(key, SyncTimer):
        return f"sync {key.group_id}"
    if isinstance(key, RevocationTimer | RejoinTimer | ResyncTimer):
        name = type(key).__name__.removesuffix("Timer").lower()
        return f"{name} {key.group_id} {key.member_id}"
    assert isinstance(key, RetentionTimer)
    return "retention"
