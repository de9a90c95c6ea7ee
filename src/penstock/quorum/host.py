"""Hosts raft's machine over the metadata log: this node's part in the quorum.

Owns the order of things: what raft wants persisted is on disk before the log changes, the log
before anything is sent, and what is committed is told before anybody hears that it is. Owns no
rule of raft, no connection, and nothing of what records mean.

A voter that is alone leads at once and commits with its own flush: no message, no timer.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from penstock.metadata.record import MetadataRecord
from penstock.model.clock import Clock
from penstock.model.error import ApiError, ErrorCode, InvariantError, StorageError
from penstock.protocol.entity import Entity
from penstock.quorum.calls import OutgoingCalls, Received
from penstock.quorum.channel import Channel, NoChannel
from penstock.quorum.committed import CommittedRecords, RecordListener
from penstock.quorum.config import QuorumConfig
from penstock.quorum.leader_journal import LeaderJournal
from penstock.quorum.loading import load, quorum_state_of, read_election, sole_voter
from penstock.quorum.log_work import LogWorker, is_passing
from penstock.quorum.metadata_log import MetadataLog
from penstock.quorum.quorum_state import write_quorum_state
from penstock.quorum.requests import IncomingRequests
from penstock.quorum.snapshot_directory import PartialSnapshot
from penstock.quorum.snapshot_writer import SnapshotWriter
from penstock.quorum.space_reserve import SpaceReserve
from penstock.raft import (
    AppendControl,
    AppendFetched,
    LogWork,
    QuorumView,
    RaftMachine,
    Ready,
    ReplicaView,
    Role,
    RoleView,
    SnapshotId,
    Truncate,
    WriteChunk,
)
from penstock.raft.message import RaftRequest, VoterChangeAnswer
from penstock.records.header import Buffer
from penstock.telemetry.log import get_logger

RETRY_S = 1.0
"""Before the same is fetched again that could not be written."""
HANDOVER_S = 1.0

log = get_logger("quorum")

Step = Callable[[int], None]
"""An input of the machine, given the time."""


class QuorumListener(RecordListener, Protocol):
    def on_leader(self, epoch: int) -> None:
        """This node leads, and everything written before it did is committed and told."""
        ...

    def on_follower(self, leader_id: int | None, epoch: int) -> None: ...


class Quorum:
    def __init__(
        self,
        config: QuorumConfig,
        metadata_log: MetadataLog,
        clock: Clock,
        listener: QuorumListener,
        random: Callable[[], float],
        *,
        channel: Channel | None = None,
        reserve: SpaceReserve | None = None,
    ) -> None:
        self.log = metadata_log
        self.journal: LeaderJournal | None = None
        """The controller's, while this node leads and has committed something of its epoch."""
        self.failure: Exception | None = None
        """After it nothing is written or answered any more."""
        self._config = config
        self._clock = clock
        self._listener = listener
        self._random = random
        self._reserve = reserve
        self._committed = CommittedRecords(metadata_log, listener)
        self._worker = LogWorker(metadata_log, self._committed, clock, reserve)
        self._snapshots = SnapshotWriter(config, metadata_log, self._committed, clock)
        self._calls = OutgoingCalls(
            config, channel or NoChannel(), self._take_answer, self._take_failure
        )
        self._requests = IncomingRequests(config, metadata_log)
        self._inputs: deque[Step] = deque()
        self._is_running = False
        self._is_installing = False
        self._flushing: asyncio.Task[None] | None = None
        self._installing: asyncio.Task[None] | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._received: tuple[int, Buffer] = (-1, b"")
        # Set and cleared at once: wakes whoever waits for a change of role.
        self._turned = asyncio.Event()

    # --- its life ---

    def start(self) -> None:
        """Reads what is on disk and takes part from now on. What a snapshot holds is told at once;
        records behind it once they are known to be committed."""
        loaded = load(self.log, self._config.voters)
        if loaded.snapshot_id is not None and loaded.snapshot is not None:
            end_offset = loaded.snapshot_id.end_offset
            self._committed.tell_snapshot(loaded.snapshot.records, end_offset)
        raft, history = self._config.raft, loaded.history
        if self._config.alone:
            key = sole_voter(self.log, history, raft.key)
            raft = replace(raft, directory_id=key.directory_id)
        never_votes_twice = not raft.can_vote or len(history.voters) <= 1
        election = read_election(self.log, replaceable=never_votes_twice)
        self._machine = RaftMachine(raft, self.log, election, history, self._random, self._now_ms())
        self._feed(self._machine.tick)

    async def wait_leading(self) -> None:
        """Parks until this node leads, and all before is committed and told; raises if that can
        never be."""
        while self.journal is None:
            if self.failure is not None:
                raise self.failure
            await self._turned.wait()

    async def close(self) -> None:
        """A leader hands over, if that can be done quickly."""
        if self.failure is None:
            self._feed(self._machine.shut_down)
            until = self._clock.monotonic() + HANDOVER_S
            while not self._machine.is_done and self.failure is None:
                if self._clock.monotonic() >= until:
                    break
                await asyncio.sleep(0.01)
        self._end(StorageError("stopped"))
        await self._calls.close()
        for task in (self._flushing, self._installing):
            if task is not None:
                await asyncio.wait([task])

    # --- inputs, one after the other ---

    def _now_ms(self) -> int:
        return int(self._clock.monotonic() * 1000)

    def _feed(self, step: Step) -> None:
        if self.failure is not None:
            return
        self._inputs.append(step)
        if not self._is_running:
            self._run()

    def _run(self) -> None:
        self._is_running = True
        try:
            while self._inputs and not self._is_installing and self.failure is None:
                self._inputs.popleft()(self._now_ms())
                while ready := self._machine.take_ready():
                    self._carry_out(ready)
        except Exception as error:
            log.error("the quorum cannot go on", exc_info=error)
            self._end(error)
        finally:
            self._is_running = False
        if self.failure is None:
            self._flush()
            self._set_alarm()

    def _carry_out(self, ready: Ready) -> None:
        if ready.election is not None:
            state = quorum_state_of(ready.election, self._machine.history)
            write_quorum_state(self.log.log.disk, self.log.log.directory, state)
        # What follows from the work comes in front of whatever else has happened meanwhile.
        done = [step for work in ready.log_work for step in self._do(work)]
        self._inputs.extendleft(reversed(done))
        for sent in ready.requests:
            self._calls.send(sent)
        for token, answer in ready.answers:
            self._requests.answer(token, answer)
        if ready.high_watermark is not None:
            self._commit(ready.high_watermark)
        if ready.role is not None:
            self._change_role(ready.role)
        self._begin_leading()

    # --- the log ---

    def _do(self, work: LogWork) -> list[Step]:
        """And what raft is to be told of it."""
        if isinstance(work, AppendControl):
            entries = self._worker.append_control(work)
            return [lambda now_ms: self._machine.log_appended(now_ms, entries)]
        if isinstance(work, Truncate):
            self._worker.truncate(work.end_offset)
            return [self._machine.log_truncated]
        if isinstance(work, AppendFetched):
            return self._append_fetched(self._data_of(work.request_id))
        return self._write_chunk(work)

    def _append_fetched(self, data: Buffer) -> list[Step]:
        try:
            entries = self._worker.append_fetched(data, self._machine.view.epoch)
        except Exception as error:
            if not is_passing(error):
                raise
            log.warning("fetched metadata cannot be written", reason=str(error))
            asyncio.get_running_loop().call_later(RETRY_S, self._feed, self._machine.log_appended)
            return []
        return [lambda now_ms: self._machine.log_appended(now_ms, entries)]

    def _write_chunk(self, work: WriteChunk) -> list[Step]:
        try:
            partial = self._worker.write_chunk(work, self._data_of(work.request_id))
        except Exception as error:
            if not is_passing(error):
                raise
            log.warning("fetched snapshot cannot be written", reason=str(error))
            self._worker.abandon()
            asyncio.get_running_loop().call_later(
                RETRY_S, self._feed, self._machine.snapshot_refused
            )
            return []
        if work.last:
            self._is_installing = True
            self._installing = asyncio.create_task(self._install(partial), name="install-snapshot")
        return []

    async def _install(self, partial: PartialSnapshot) -> None:
        """Other inputs wait meanwhile: there is no log to speak of."""
        try:
            snapshot = await asyncio.to_thread(partial.complete)
            entries = self._worker.install(partial, snapshot)
        except StorageError as error:
            log.warning("fetched snapshot cannot be used", reason=str(error))
            step: Step = self._machine.snapshot_refused
        except Exception as error:
            log.error("the quorum cannot go on", exc_info=error)
            self._end(error)
            return
        else:
            self._snapshots.note_taken()

            def step(now_ms: int) -> None:
                self._machine.snapshot_installed(partial.id, entries, now_ms)

        self._is_installing, self._installing = False, None
        self._inputs.appendleft(step)
        self._run()

    def _data_of(self, request_id: int) -> Buffer:
        received_id, data = self._received
        if received_id != request_id:
            raise InvariantError(f"no data of request {request_id}, but of {received_id}")
        return data

    # --- other nodes ---

    def _take_answer(self, request_id: int, received: Received) -> None:
        def step(now_ms: int) -> None:
            self._received = (request_id, received.data)
            self._machine.receive_answer(request_id, received.answer, now_ms)

        self._feed(step)

    def _take_failure(self, request_id: int, unsupported: bool, refused: bool) -> None:
        self._feed(
            lambda now_ms: self._machine.request_failed(
                request_id, now_ms, unsupported=unsupported, refused=refused
            )
        )

    async def answer(self, request: Entity, listener: str) -> Entity:
        """To a request of raft's that came in on this listener; a fetch may take a while."""
        return await self._requests.ask(request, listener, self._receive)

    def _receive(self, request: RaftRequest, token: int) -> None:
        if self.failure is not None:
            raise ApiError(ErrorCode.BROKER_NOT_AVAILABLE)
        self._feed(lambda now_ms: self._machine.receive(request, token, now_ms))

    async def upgrade_kraft_version(self, version: int) -> VoterChangeAnswer:
        def ask(token: int) -> None:
            self._feed(lambda now_ms: self._machine.upgrade_kraft_version(version, token, now_ms))

        answer = await self._requests.wait(ask)
        assert isinstance(answer, VoterChangeAnswer)
        return answer

    # --- what is committed, and who leads ---

    def _commit(self, high_watermark: int) -> None:
        self.log.advance_high_watermark(high_watermark)
        self._committed.tell_until(self.log.high_watermark)
        if self.journal is not None:
            self.journal.note_committed()

    def _change_role(self, view: RoleView) -> None:
        if view.role is Role.LEADER and self.journal is None:
            return
        if self.journal is not None and (view.role, view.epoch) != (
            Role.LEADER,
            self.journal.epoch,
        ):
            journal, self.journal = self.journal, None
            self._committed.forget_from(self._committed.next_offset)
            journal.end()
        if view.role is not Role.LEADER:
            log.info("quorum", role=view.role.value, epoch=view.epoch, leader=view.leader_id)
            self._listener.on_follower(view.leader_id, view.epoch)

    def _begin_leading(self) -> None:
        if self.journal is not None or not self._machine.leads_committed:
            return
        epoch = self._machine.view.epoch
        self.journal = LeaderJournal(
            epoch,
            self.log,
            self._committed,
            self._clock,
            self._reserve,
            lambda: self._feed(self._machine.log_appended),
        )
        if not self._config.alone:
            log.info("quorum", role=Role.LEADER.value, epoch=epoch)
        self._listener.on_leader(epoch)
        self._wake()

    def _wake(self) -> None:
        self._turned.set()
        self._turned.clear()

    @property
    def view(self) -> RoleView:
        return self._machine.view

    @property
    def voter_ids(self) -> tuple[int, ...]:
        return self._machine.history.voters.ids

    @property
    def leader(self) -> tuple[int, str, int] | None:
        """Id, host and port, where this node would call it."""
        leader_id = self._machine.view.leader_id
        if leader_id is None:
            return None
        endpoints = self._machine.history.voters.endpoints_of(leader_id)
        for each in endpoints:
            if each.listener == self._config.listener:
                return leader_id, each.host, each.port
        return (leader_id, "", 0) if leader_id == self._config.raft.node_id else None

    @property
    def committed_offset(self) -> int:
        """All before it has been told."""
        return self._committed.next_offset

    def resign(self) -> None:
        """The controller here cannot go on."""
        epoch = self._machine.view.epoch
        self._feed(lambda now_ms: self._machine.resign(epoch, now_ms))

    def describe(self) -> QuorumView | ErrorCode:
        """With times of the wall clock."""
        now_ms = self._now_ms()
        view = self._machine.describe(now_ms)
        if isinstance(view, ErrorCode):
            return view
        ahead_ms = self._clock.now_ms() - now_ms
        return view._replace(
            voters=tuple(_on_wall(one, ahead_ms) for one in view.voters),
            observers=tuple(_on_wall(one, ahead_ms) for one in view.observers),
        )

    # --- snapshots ---

    @property
    def wants_snapshot(self) -> bool:
        return self._snapshots.is_due

    async def write_snapshot(
        self, records: Sequence[MetadataRecord], end_offset: int
    ) -> SnapshotId | None:
        """`records` make the state as of `end_offset`, all of it told before, with no transaction
        open there. None if there is one already that is as new."""
        history = self._machine.history
        written = await self._snapshots.write(records, end_offset, history, self._committed.level)
        self._machine.log_trimmed()
        return written

    # --- flush and time ---

    def _flush(self) -> None:
        if self._flushing is None and self.log.flushed_offset < self.log.end_offset:
            self._flushing = asyncio.create_task(self._flush_all(), name="quorum-flush")

    async def _flush_all(self) -> None:
        """As long as something is not synced: what is appended during one flush shares the next."""
        try:
            while self.log.flushed_offset < self.log.end_offset:
                await self.log.wait_flushed()
                self._feed(self._machine.log_flushed)
        except Exception as error:
            self._end(error)
        finally:
            self._flushing = None

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        deadline_ms = self._machine.next_deadline_ms
        if deadline_ms is None or self._is_installing:
            return
        wait_s = max(0, deadline_ms - self._now_ms()) / 1000
        loop = asyncio.get_running_loop()
        self._alarm = loop.call_later(wait_s, self._feed, self._machine.tick)

    def _end(self, error: Exception) -> None:
        if self.failure is not None:
            return
        self.failure = error
        if self._alarm is not None:
            self._alarm.cancel()
        self._inputs.clear()
        self._worker.abandon()
        if self.journal is not None:
            self.journal.end(error)
        self._requests.fail(ApiError(ErrorCode.BROKER_NOT_AVAILABLE))
        self._wake()


def _on_wall(replica: ReplicaView, ahead_ms: int) -> ReplicaView:
    def moved(at_ms: int) -> int:
        return at_ms if at_ms < 0 else at_ms + ahead_ms

    return replica._replace(
        last_fetch_ms=moved(replica.last_fetch_ms),
        last_caught_up_ms=moved(replica.last_caught_up_ms),
    )
