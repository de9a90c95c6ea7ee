"""Hosts raft's machine over the metadata log: this node's part in the quorum.

Owns the order of things: what raft wants persisted is on disk before the log changes, the log
before anything is sent, and what is committed is told before anybody hears that it is. Owns no
rule of raft, no connection, and nothing of what records mean.

A voter that is alone leads at once and commits with its own flush: no message, no timer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from penstock.metadata.record import MetadataRecord
from penstock.model.clock import Clock
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.protocol.entity import Entity
from penstock.quorum.calls import OutgoingCalls, Received
from penstock.quorum.channel import Channel, NoChannel
from penstock.quorum.committed import CommittedRecords, RecordListener
from penstock.quorum.config import QuorumConfig
from penstock.quorum.flushing import Flushing
from penstock.quorum.inputs import Inputs, Step
from penstock.quorum.leader_journal import LeaderJournal
from penstock.quorum.loading import load, quorum_state_of, read_election, sole_voter
from penstock.quorum.log_work import LogWorker
from penstock.quorum.metadata_log import MetadataLog
from penstock.quorum.quorum_state import write_quorum_state
from penstock.quorum.requests import IncomingRequests
from penstock.quorum.snapshot_writer import SnapshotWriter
from penstock.quorum.space_reserve import SpaceReserve
from penstock.quorum.wall_clock import on_wall_clock
from penstock.raft import (
    QuorumView,
    RaftMachine,
    Ready,
    Role,
    RoleView,
    SnapshotId,
)
from penstock.raft.message import RaftRequest, VoterChangeAnswer
from penstock.telemetry.log import get_logger

HANDOVER_S = 1.0

log = get_logger("quorum")


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
        self._snapshots = SnapshotWriter(config, metadata_log, self._committed, clock)
        self._calls = OutgoingCalls(
            config, channel or NoChannel(), self._take_answer, self._take_failure
        )
        self._requests = IncomingRequests(config, metadata_log)
        self._inputs = Inputs(self._work, self._on_idle)
        self._flushing = Flushing(
            metadata_log, lambda: self._inputs.feed(self._machine.log_flushed), self._end
        )
        self._alarm: asyncio.TimerHandle | None = None
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
        self._worker = LogWorker(
            self.log,
            self._committed,
            self._clock,
            self._reserve,
            self._machine,
            self._inputs,
            # Soon enough for the leader not to miss it.
            retry_s=raft.fetch_timeout_ms / 4000,
        )
        self._inputs.feed(self._machine.tick)

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
            self._inputs.feed(self._machine.shut_down)
            until = self._clock.monotonic() + HANDOVER_S
            while not self._machine.is_done and self.failure is None:
                if self._clock.monotonic() >= until:
                    break
                await asyncio.sleep(0.01)
        self._end(StorageError("stopped"))
        await self._calls.close()
        await self._worker.close()
        await self._flushing.close()

    # --- inputs, one after the other ---

    def _now_ms(self) -> int:
        return int(self._clock.monotonic() * 1000)

    def _work(self, step: Step) -> None:
        try:
            step(self._now_ms())
            while ready := self._machine.take_ready():
                self._carry_out(ready)
        except Exception as error:
            log.error("the quorum cannot go on", exc_info=error)
            self._end(error)

    def _on_idle(self) -> None:
        if self.failure is None:
            self._flushing.begin()
            self._set_alarm()

    def _carry_out(self, ready: Ready) -> None:
        if ready.election is not None:
            state = quorum_state_of(ready.election, self._machine.history)
            write_quorum_state(self.log.log.disk, self.log.log.directory, state)
        self._inputs.put_first(step for work in ready.log_work for step in self._worker.do(work))
        for sent in ready.requests:
            self._calls.send(sent)
        for token, answer in ready.answers:
            self._requests.answer(token, answer)
        if ready.high_watermark is not None:
            self._commit(ready.high_watermark)
        if ready.role is not None:
            self._change_role(ready.role)
        self._begin_leading()

    # --- other nodes ---

    def _take_answer(self, request_id: int, received: Received) -> None:
        def step(now_ms: int) -> None:
            self._worker.receive(request_id, received.data)
            self._machine.receive_answer(request_id, received.answer, now_ms)

        self._inputs.feed(step)

    def _take_failure(self, request_id: int, unsupported: bool, refused: bool) -> None:
        self._inputs.feed(
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
        self._inputs.feed(lambda now_ms: self._machine.receive(request, token, now_ms))

    async def upgrade_kraft_version(self, version: int) -> VoterChangeAnswer:
        def ask(token: int) -> None:
            self._inputs.feed(
                lambda now_ms: self._machine.upgrade_kraft_version(version, token, now_ms)
            )

        answer, _ = await self._requests.wait(ask)
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
            self._note(view)
            # Whoever resigned is still named in its epoch, and leads no more.
            leads = view.leader_id != self._config.raft.node_id
            self._listener.on_follower(view.leader_id if leads else None, view.epoch)

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
            lambda: self._inputs.feed(self._machine.log_appended),
        )
        self._note(self._machine.view)
        self._listener.on_leader(epoch)
        self._wake()

    def _note(self, view: RoleView) -> None:
        if not self._config.alone:
            role, epoch, leader_id = view
            log.info("metadata quorum", role=role.value, epoch=epoch, leader=leader_id)

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
    def kraft_version(self) -> int:
        return self._machine.history.kraft_version

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

    @property
    def lag(self) -> int:
        """How many committed records, as far as this node has heard, it has not been told yet."""
        known = self._machine.known_high_watermark
        return 0 if known is None else max(known - self.committed_offset, 0)

    def resign(self) -> None:
        """The controller here cannot go on."""
        epoch = self._machine.view.epoch
        self._inputs.feed(lambda now_ms: self._machine.resign(epoch, now_ms))

    def describe(self) -> QuorumView | ErrorCode:
        """With times of the wall clock."""
        now_ms = self._now_ms()
        view = self._machine.describe(now_ms)
        if isinstance(view, ErrorCode):
            return view
        return on_wall_clock(view, self._clock.now_ms() - now_ms)

    # --- snapshots ---

    @property
    def wants_snapshot(self) -> bool:
        return self._snapshots.is_due

    async def write_snapshot(
        self, records: Iterable[MetadataRecord], end_offset: int
    ) -> SnapshotId | None:
        """`records` make the state as of `end_offset`, all of it told before, with no transaction
        open there; a thread goes through them. None if there is one already that is as new."""
        history = self._machine.history
        written = await self._snapshots.write(records, end_offset, history, self._committed.level)
        self._machine.log_trimmed()
        return written

    # --- time, and the end ---

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if self._config.alone:
            return
        wait_s = max(0, self._machine.next_deadline_ms - self._now_ms()) / 1000
        loop = asyncio.get_running_loop()
        self._alarm = loop.call_later(wait_s, self._inputs.feed, self._machine.tick)

    def _end(self, error: Exception) -> None:
        if self.failure is not None:
            return
        self.failure = error
        if self._alarm is not None:
            self._alarm.cancel()
        self._inputs.close()
        if self.journal is not None:
            self.journal.end(error)
        self._requests.fail(ApiError(ErrorCode.BROKER_NOT_AVAILABLE))
        self._wake()
