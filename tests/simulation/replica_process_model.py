"""A broker's process in the model: the real leader and follower of a partition over a model log."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.model.error import ApiError, ErrorCode
from penstock.replication.divergence import find_divergence
from penstock.replication.follower import Action, AskOffset, FetchAnswer, FetchFrom, Follower
from penstock.replication.isr_change import IsrAnswer, IsrChange, Outcome
from penstock.replication.leader import Broker, Leader
from tests.simulation.replica_controller_model import Image
from tests.simulation.replica_log_model import make_batch

if TYPE_CHECKING:
    from tests.simulation.replica_cluster_model import Cluster

Reply = Callable[[FetchAnswer], None]
REQUEST_TIMEOUT_MS = 80
PARKED_MS = 40
BACKOFF_MS = 30
LAG_MAX_MS = 250


class Process:
    def __init__(self, cluster: Cluster, broker_id: int) -> None:
        self.cluster = cluster
        self.id = broker_id
        self.log = cluster.logs[broker_id]
        self.broker_epoch = -1
        self.alive = True
        self.stopping = False
        self.paused_until_ms = 0
        self.last_arrival_ms = 0
        self.image: Image | None = None
        self.leader_epoch = -1
        self.leader: Leader | None = None
        self.follower: Follower | None = None
        self.asked: object | None = None
        self.flushing = False
        self.waiting: list[tuple[int, list[int]]] = []
        self.parked: list[Callable[[], None]] = []

    def broker(self, broker_id: int) -> Broker | None:
        return self.image.brokers.get(broker_id) if self.image else None

    # Roles

    def on_image(self, image: Image) -> None:
        """Nothing that was decided before this process was registered is for it."""
        if self.broker_epoch < 0 or image.version < self.broker_epoch:
            return
        if self.image is not None and image.version <= self.image.version:
            return
        self.image = image
        state = image.partition
        if state.leader_epoch > self.leader_epoch:
            self._change_role(image)
        elif self.leader is not None:
            self.leader.update(state, self.cluster.now_ms)
            self.advance()

    def _change_role(self, image: Image) -> None:
        state, now_ms = image.partition, self.cluster.now_ms
        self.leader_epoch = state.leader_epoch
        self.leader = self.follower = self.asked = None
        self.waiting.clear()
        self._wake_parked()
        if state.leader == self.id:
            self.leader = self.cluster.faults.leader(
                self.id,
                state,
                self.broker,
                start_offset=self.log.end_offset,
                lag_max_ms=LAG_MAX_MS,
                now_ms=now_ms,
            )
            self.log.epochs.assign(state.leader_epoch, self.log.end_offset)
            self.cluster.checker.on_leader(self.id, state.leader_epoch)
            self.flush_soon()
            self.advance()
        elif state.leader >= 0:
            follower = self.cluster.faults.follower
            self.follower = follower(state.leader, state.leader_epoch, self.log, BACKOFF_MS)
            self._carry_out(self.follower.begin())
            self.flush_soon()
            self.ask()

    # Safety

    @property
    def safe_offset(self) -> int:
        return self.log.synced_offset if self.cluster.flushes else self.log.end_offset

    def flush_soon(self) -> None:
        if self.flushing or self.safe_offset >= self.log.end_offset:
            return
        self.flushing = True
        generation = self.log.generation
        delay = self.cluster.random.randint(1, 8)
        self.cluster.later(delay, lambda: self._flushed(generation), self)

    def _flushed(self, generation: int) -> None:
        self.flushing = False
        if generation == self.log.generation:
            self.log.sync()
        self.flush_soon()
        if self.leader is not None:
            self.advance()
        else:
            self.ask()

    # Following

    def ask(self) -> None:
        follower = self.follower
        if follower is None or self.asked is not None:
            return
        now_ms = self.cluster.now_ms
        request = follower.next_request(self.safe_offset, now_ms)
        if request is None:
            if follower.wait_until_ms > now_ms:
                self.cluster.later(follower.wait_until_ms - now_ms, self.ask, self)
            return
        token = self.asked = object()
        self.cluster.later(REQUEST_TIMEOUT_MS, lambda: self._give_up(token), self)
        if isinstance(request, FetchFrom):
            self._fetch(follower, request, token)
        else:
            self._ask_offset(follower, request, token)

    def _give_up(self, token: object) -> None:
        if self.asked is token:
            self.asked = None
            self.ask()

    def _fetch(self, follower: Follower, request: FetchFrom, token: object) -> None:
        sender, epoch = self.id, self.broker_epoch

        def answered(answer: FetchAnswer) -> None:
            if self.asked is token:
                self.asked = None
            self._on_answer(follower, request, answer)

        def arrived(leader: Process) -> None:
            leader.on_fetch(
                sender, epoch, request, lambda answer: leader.reply(self, answered, answer)
            )

        self.cluster.call(self, follower.leader_id, arrived)

    def reply(
        self, to: Process, answered: Callable[[FetchAnswer], None], answer: FetchAnswer
    ) -> None:
        self.cluster.send(self.id, to, lambda: answered(answer))

    def _on_answer(self, follower: Follower, request: FetchFrom, answer: FetchAnswer) -> None:
        # An answer that comes late is given to whoever follows now: it is told to whom it belongs.
        current = self.follower
        if current is None:
            return
        before = self.log.high_watermark
        self._carry_out(current.on_answer(request, answer, self.cluster.now_ms))
        if self.log.high_watermark > before:
            self.cluster.checker.on_watermark(self.log, self.leader_epoch, before)
        self.flush_soon()
        self.ask()

    def _carry_out(self, action: Action | None) -> None:
        if action is None:
            return
        generation = self.log.generation
        self.log.carry_out(action)
        if self.log.generation != generation and self.cluster.flushes:
            # A cut is on disk before anything is written behind it.
            self.log.sync()

    def _ask_offset(self, follower: Follower, question: AskOffset, token: object) -> None:
        epoch = follower.leader_epoch

        def answered(error: int, offset: int) -> None:
            if self.asked is token:
                self.asked = None
            if self.follower is not None:
                now_ms = self.cluster.now_ms
                self._carry_out(self.follower.on_offset(question, epoch, error, offset, now_ms))
                self.flush_soon()
                self.ask()

        def arrived(leader: Process) -> None:
            error = leader.check_epoch(epoch)
            latest = question is AskOffset.LATEST
            offset = leader.log.end_offset if latest else leader.log.log_start_offset
            leader.cluster.send(leader.id, self, lambda: answered(error, offset))

        self.cluster.call(self, follower.leader_id, arrived)

    # Leading

    def check_epoch(self, epoch: int) -> int:
        if epoch < self.leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if epoch > self.leader_epoch:
            return ErrorCode.UNKNOWN_LEADER_EPOCH
        return ErrorCode.NONE if self.leader is not None else ErrorCode.NOT_LEADER_OR_FOLLOWER

    def on_fetch(self, sender: int, broker_epoch: int, asked: FetchFrom, reply: Reply) -> None:
        error = self.check_epoch(asked.leader_epoch)
        if error != ErrorCode.NONE:
            reply(FetchAnswer(error))
            return
        try:
            if self._take_fetch(sender, broker_epoch, asked, reply):
                return
        except ApiError as refused:
            reply(FetchAnswer(refused.code))
            return
        self._answer_or_park(asked, reply)

    def _take_fetch(self, sender: int, broker_epoch: int, asked: FetchFrom, reply: Reply) -> bool:
        """Whether it is answered already."""
        log, leader = self.log, self.leader
        assert leader is not None
        diverging = find_divergence(log, asked.offset, asked.last_fetched_epoch)
        if diverging is not None:
            mark, start = log.high_watermark, log.log_start_offset
            reply(FetchAnswer(0, b"", mark, start, diverging))
            return True
        if not log.log_start_offset <= asked.offset <= log.end_offset:
            raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE)
        now_ms = self.cluster.now_ms
        leader.on_fetch(
            sender, broker_epoch, asked.offset, log.end_offset, now_ms, asked.log_start_offset
        )
        self._propose(leader.expand(sender, log.high_watermark, self.broker_epoch))
        self.advance()
        return False

    def _answer_or_park(self, asked: FetchFrom, reply: Reply) -> None:
        done = False

        def complete() -> None:
            nonlocal done
            if done or not self.alive:
                return
            done = True
            error = self.check_epoch(asked.leader_epoch)
            if error == ErrorCode.NONE or self.cluster.careless:
                self._read_for(asked, reply)
            else:
                reply(FetchAnswer(error))

        if self.log.end_offset > asked.offset:
            complete()
        else:
            self.parked.append(complete)
            self.cluster.later(self.cluster.random.randint(1, PARKED_MS), complete, self)

    def _read_for(self, asked: FetchFrom, reply: Reply) -> None:
        log = self.log
        count = self.cluster.random.randint(1, 6)
        data = b"".join(batch.data for batch in log.read(asked.offset, log.end_offset, count))
        if data and self.cluster.random.random() < 0.1:
            data = data[: self.cluster.random.randint(1, len(data))]
        reply(FetchAnswer(0, data, log.high_watermark, log.log_start_offset))

    def _wake_parked(self) -> None:
        parked, self.parked = self.parked, []
        for complete in parked:
            complete()

    def advance(self) -> None:
        leader, log = self.leader, self.log
        if leader is None:
            return
        before = log.high_watermark
        log.high_watermark = leader.high_watermark(
            before, self.safe_offset, self.cluster.min_isr, log.end_offset, self.cluster.now_ms
        )
        if log.high_watermark < before:
            raise AssertionError("the watermark went back")
        if log.high_watermark > before:
            self.cluster.checker.on_watermark(log, self.leader_epoch, before)
        while self.waiting and self.waiting[0][0] <= log.high_watermark:
            end, values = self.waiting.pop(0)
            if leader.is_enough(self.cluster.min_isr):
                self.cluster.checker.on_acked(values, end - 1, self.leader_epoch)
                self.cluster.acked += 1

    def produce(self, values: list[int], *, acks_all: bool) -> None:
        leader, log = self.leader, self.log
        if leader is None or (acks_all and not leader.may_append(self.cluster.min_isr)):
            return
        log.append(make_batch(log.end_offset, self.leader_epoch, values))
        if acks_all:
            self.waiting.append((log.end_offset, values))
        self.flush_soon()
        self.advance()
        self._wake_parked()

    def delete_records(self) -> None:
        if self.leader is not None:
            target = self.cluster.random.randint(self.log.log_start_offset, self.log.high_watermark)
            self.log.delete_before(target)

    # In-sync sets

    def check_lag(self) -> None:
        if self.leader is not None:
            change = self.leader.shrink(self.log.end_offset, self.broker_epoch, self.cluster.now_ms)
            self._propose(change)
            self.advance()

    def _propose(self, change: IsrChange | None) -> None:
        """Sent again until it is answered. Copies arrive in the order in which they were sent, and
        only the last one's answer counts, as over one connection: a refusal of an earlier copy
        says nothing of a later one."""
        leader, epoch = self.leader, self.broker_epoch
        if change is None or leader is None:
            return
        last = 0

        def answered(copy: int, error: int, answer: IsrAnswer | None) -> None:
            if copy != last:
                return
            outcome = leader.on_answer(change, error, answer)
            if outcome is Outcome.RETRY:
                self.cluster.later(20, send, self)
            elif self.leader is leader:
                self.advance()

        def decide(copy: int) -> None:
            error, answer = self.cluster.alter_partition(self.id, epoch, change)
            self.cluster.send(-1, self, lambda: answered(copy, error, answer))

        def send() -> None:
            nonlocal last
            if leader.pending is change:
                last = copy = last + 1
                self.cluster.send_in_order(self, lambda: decide(copy))
                self.cluster.later(REQUEST_TIMEOUT_MS, send, self)

        send()
