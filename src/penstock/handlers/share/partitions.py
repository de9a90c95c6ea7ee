"""The share partitions of this node: loaded when a member first reads them, gone with the lead.

Owns the one clock by which the locks of all of them run out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from penstock.coordinator.share_state import ShareStates
from penstock.handlers.broker import Broker
from penstock.handlers.call import ClientState
from penstock.handlers.share.first_offset import first_offset
from penstock.handlers.share.partition import SharePartition
from penstock.handlers.share.session import ShareSession, ShareSessions
from penstock.handlers.share.setting import settings_of
from penstock.machine.timers import Timers
from penstock.model.error import ApiError, ErrorCode
from penstock.model.id import TopicId
from penstock.replication.partition import Partition
from penstock.share import ShareKey


class SharePartitions:
    def __init__(self, broker: Broker, states: ShareStates) -> None:
        self.sessions = ShareSessions(int(broker.config.get("group.share.max.share.sessions")))
        self.states = states
        self._broker = broker
        self._found: dict[ShareKey, SharePartition] = {}
        self._of_partition: dict[Partition, dict[ShareKey, None]] = {}
        self._timers = Timers()
        self._alarm: asyncio.TimerHandle | None = None
        self._tasks: dict[asyncio.Task[None], None] = {}

    def now_ms(self) -> int:
        """Locks run by a clock that nobody sets."""
        return int(self._broker.clock.monotonic() * 1000)

    # Finding

    def find(self, group_id: str, topic_id: TopicId, index: int) -> SharePartition:
        """Loaded, or being so; ApiError where it is not led here."""
        partition = self._broker.partitions.by_id(topic_id, index)
        key = ShareKey(group_id, topic_id, index)
        found = self._found.get(key)
        if found is not None:
            if found.partition is partition and found.keeps_lead():
                return found
            found.fail(ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        return self._make(key, partition)

    def check_led(self, topic_id: TopicId, index: int) -> None:
        """ApiError where another broker leads it, or nobody knows of it."""
        self._broker.partitions.by_id(topic_id, index)

    def loaded(self, group_id: str, topic_id: TopicId, index: int) -> SharePartition | None:
        """Only if it is there already: without it nobody has anything of it."""
        return self._found.get(ShareKey(group_id, topic_id, index))

    def _make(self, key: ShareKey, partition: Partition) -> SharePartition:
        broker = self._broker
        made = SharePartition(
            key,
            partition,
            self.states,
            lambda: settings_of(broker, key.group_id),
            self._forget,
            self.note_locks,
        )
        self._found[key] = made
        self._watch(partition, key)
        reset = settings_of(broker, key.group_id).offset_reset
        self._spawn(made.load(lambda: first_offset(partition, reset, broker.clock.now_ms())))
        return made

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name="share")
        self._tasks[task] = None
        task.add_done_callback(lambda done: self._tasks.pop(done, None))

    def _watch(self, partition: Partition, key: ShareKey) -> None:
        keys = self._of_partition.get(partition)
        if keys is not None:
            keys[key] = None
            return
        self._of_partition[partition] = {key: None}
        before = partition.on_unled

        def on_unled(error: Exception) -> None:
            if before is not None:
                before(error)
            self._end_all(partition)

        partition.on_unled = on_unled

    def _end_all(self, partition: Partition) -> None:
        for key in self._of_partition.pop(partition, {}):
            found = self._found.get(key)
            if found is not None and found.partition is partition:
                found.fail(ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER))

    def _forget(self, gone: SharePartition) -> None:
        self._timers.cancel(gone)
        if self._found.get(gone.key) is gone:
            del self._found[gone.key]

    # Ends of sessions

    def end_session(self, session: ShareSession) -> None:
        """What the member has here goes to others."""
        for topic_id, index in session.places:
            found = self.loaded(session.group_id, topic_id, index)
            if found is not None:
                found.release(session.member_id)
                self.note_locks(found)
        self.sessions.end(session)
        if not self.sessions.has_group(session.group_id):
            self._spawn(self._retire(session.group_id))

    def on_connection_ended(self, client: ClientState) -> None:
        for session in self.sessions.of_client(client):
            self.end_session(session)

    async def _retire(self, group_id: str) -> None:
        """Nobody reads them here any more. Who comes next finds what is kept, which an admin may
        have changed by then; and never before all of this one's changes are kept."""
        for found in [one for key, one in self._found.items() if key.group_id == group_id]:
            await found.wait_kept()
            if not self.sessions.has_group(group_id):
                found.fail(ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER))

    # Locks

    def note_locks(self, changed: SharePartition) -> None:
        deadline_ms = changed.next_deadline_ms
        if deadline_ms is None:
            self._timers.cancel(changed)
        else:
            self._timers.schedule(changed, deadline_ms)
        self._set_alarm()

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        deadline_ms = self._timers.next_deadline_ms()
        if deadline_ms is not None:
            wait_s = max(0, deadline_ms - self.now_ms()) / 1000
            self._alarm = self._broker.loop.call_later(wait_s, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        now_ms = self.now_ms()
        while (due := self._timers.pop_next(now_ms)) is not None:
            assert isinstance(due, SharePartition)
            due.expire(now_ms)
            deadline_ms = due.next_deadline_ms
            if deadline_ms is not None and due.failure is None:
                self._timers.schedule(due, max(deadline_ms, now_ms + 1))
        self._set_alarm()

    async def close(self) -> None:
        """What members have gone without is given back with the next leader's load."""
        if self._alarm is not None:
            self._alarm.cancel()
        for task in self._tasks:
            task.cancel()
        for found in tuple(self._found.values()):
            await found.wait_kept()
