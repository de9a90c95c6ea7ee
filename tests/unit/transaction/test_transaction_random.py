"""Random producers, restarts and failed writes: what must hold whatever happens."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.machine import Decision
from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from penstock.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from penstock.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from penstock.transaction import (
    Addition,
    Identity,
    TransactionConfig,
    TransactionRecord,
    TransactionShard,
    marker_task,
)
from penstock.transaction.record import record_of, transaction_of
from penstock.transaction.state import TRANSITIONS, TransactionEvent, TransactionState
from penstock.transaction.timer import ExpirationTimer
from penstock.transaction.transaction import EPOCH_MAX, Transaction
from tests.transcripts.transaction_world import TransactionWorld

CONFIG = TransactionConfig(
    transactional_id_expiration_ms=50_000,
    transaction_remove_expired_transaction_cleanup_interval_ms=20_000,
)
NONE = Identity(-1, -1)


@dataclass(frozen=True)
class Op:
    name: str
    transactional_id: str
    who: int
    """Which of the producers seen so far, the latest first; 0 more often than not."""
    off: int
    """Added to the epoch, to ask for what nobody was given."""
    choice: int
    classic: bool
    written: bool


ops = st.builds(
    Op,
    name=st.sampled_from(
        ["add", "commit", "markers"] * 4
        + ["abort", "init", "init_again", "add_offsets", "verify", "advance", "restart", "upgrade"]
    ),
    transactional_id=st.sampled_from(["a", "a", "a", "b"]),
    who=st.sampled_from([0] * 6 + [1, 1, 2, 3]),
    off=st.sampled_from([0] * 12 + [-1, 1]),
    choice=st.integers(0, 59),
    classic=st.sampled_from([False, False, True]),
    written=st.sampled_from([True] * 9 + [False]),
)


@dataclass(frozen=True)
class End:
    """An answer that says a transaction has ended so."""

    transactional_id: str
    identity: Identity
    committed: bool


class Walk:
    """`floors` are the identities that newly started producers got: who comes with one below has
    been fenced. So have the `broken_off`, whose transactions the coordinator aborted."""

    def __init__(self, version: int, first_epoch: int | None) -> None:
        self.world = TransactionWorld(replace(CONFIG, transaction_version=version))
        self.given: dict[str, list[Identity]] = {"a": [], "b": []}
        self.floors: dict[str, Identity] = {}
        self.broken_off: set[tuple[str, Identity]] = set()
        self.ends: set[End] = set()
        if first_epoch is not None:
            self._begin_late(first_epoch)

    def _begin_late(self, epoch: int) -> None:
        known = Transaction("a", 7, epoch, previous_producer_id=7, timeout_ms=9_000, update_ms=0)
        version = self.world.config.log_value_version
        self.world.take(Decision((record_of(known, version),), None))
        self.given["a"].append(Identity(7, epoch))

    def step(self, op: Op) -> None:
        if op.name == "advance":
            self._advance(op.choice * op.choice * 5)
        elif op.name == "restart":
            self.world.start()
        elif op.name == "upgrade":
            self.world.config = replace(self.world.config, transaction_version=2)
            self.world.shard.configure(self.world.config)
        else:
            self._request(op)

    def _advance(self, for_ms: int) -> None:
        until_ms = self.world.now_ms + for_ms
        while (rung := self.world.ring(until_ms)) is not None:
            self._note_broken_off(rung[1])

    def _note_broken_off(self, decision: Decision[TransactionRecord, object]) -> None:
        for record in decision.records:
            if record.value is not None and marker_task(record) is not None:
                name = record.transactional_id
                ongoing = _history(self.world.log, name)[-2]
                assert ongoing.state is TransactionState.ONGOING
                self.broken_off.add((name, ongoing.identity))

    def _request(self, op: Op) -> None:
        before = _snapshot(self.world.shard)
        decision: Decision[TransactionRecord, object] = getattr(self, op.name)(op)
        assert _snapshot(self.world.shard) == before, "deciding changed something"
        if not op.written and decision.records:
            return  # the disk was full: nothing may have happened
        log_before = list(self.world.log)
        self.world.take(decision)
        self._judge(op, decision, log_before)

    def _judge(
        self,
        op: Op,
        decision: Decision[TransactionRecord, object],
        log_before: list[TransactionRecord],
    ) -> None:
        reply, name, who = decision.reply, op.transactional_id, self._identity(op)
        if isinstance(reply, InitProducerIdResponse):
            self._note_broken_off(decision)
        if isinstance(reply, InitProducerIdResponse) and reply.error_code == ErrorCode.NONE:
            if op.name == "init_again" and _knows(log_before, name):
                self._check_not_fenced(name, who)
            got = Identity(reply.producer_id, reply.producer_epoch)
            self._learn(name, got)
            if op.name == "init":
                self.floors[name] = got
        elif isinstance(reply, EndTxnResponse) and reply.error_code == ErrorCode.NONE:
            self._check_not_fenced(name, who)
            self._check_end(op, who, decision)
            if not op.classic:
                self._learn(name, Identity(reply.producer_id, reply.producer_epoch))
        elif op.name in ("add", "add_offsets", "verify") and _is_success(reply):
            self._check_not_fenced(name, who)
            assert (name, who) not in self.broken_off

    def _learn(self, name: str, got: Identity) -> None:
        """Epochs never go back, and no producer gets the one kept for fencing."""
        assert got.producer_epoch < EPOCH_MAX
        if self.given[name]:
            assert got >= max(self.given[name])
        if got not in self.given[name]:
            self.given[name].append(got)

    def _check_not_fenced(self, name: str, who: Identity) -> None:
        assert who >= self.floors.get(name, NONE), f"{who} was fenced"

    def _check_end(
        self, op: Op, who: Identity, decision: Decision[TransactionRecord, object]
    ) -> None:
        """What is told to have happened to the producer's transaction is what the log says, and
        never was told otherwise."""
        committed = op.name == "commit"
        states = _history(self.world.log, op.transactional_id)
        at = max(i for i, one in enumerate(states) if one.is_completing)
        assert (states[at].state is TransactionState.PREPARE_COMMIT) == committed
        owners = {states[at - 1].identity}
        if op.classic and not decision.records:
            # Nothing was begun since, so nothing is told that matters.
            assert states[-1].is_complete
            owners.add(states[-1].identity)
        assert who in owners
        if not op.classic:
            assert End(op.transactional_id, who, not committed) not in self.ends
            self.ends.add(End(op.transactional_id, who, committed))

    # --- requests ---

    def _identity(self, op: Op) -> Identity:
        known = self.given[op.transactional_id]
        if not known:
            return Identity(99, 0)
        one = known[-1 - op.who % len(known)]
        return Identity(one.producer_id, one.producer_epoch + op.off)

    def init(self, op: Op, expected: Identity = NONE) -> Decision[TransactionRecord, object]:
        request = InitProducerIdRequest(
            transactional_id=op.transactional_id,
            transaction_timeout_ms=1 + op.choice * 200,
            producer_id=expected.producer_id,
            producer_epoch=expected.producer_epoch,
        )
        return self.world.shard.decide_init_producer_id(request, 5, self.world.now_ms)

    def init_again(self, op: Op) -> Decision[TransactionRecord, object]:
        return self.init(op, self._identity(op))

    def add(self, op: Op) -> Decision[TransactionRecord, object]:
        addition = self._addition(op)
        return self.world.shard.decide_add_partitions(addition, self.world.now_ms)

    def verify(self, op: Op) -> Decision[TransactionRecord, object]:
        addition = self._addition(op)._replace(verify_only=True)
        return self.world.shard.decide_add_partitions(addition, self.world.now_ms)

    def _addition(self, op: Op) -> Addition:
        partitions = [TopicPartition("t", one) for one in {op.choice % 3, op.choice % 2}]
        version = 0 if op.classic else 2
        return Addition(
            op.transactional_id, *self._identity(op), partitions, transaction_version=version
        )

    def add_offsets(self, op: Op) -> Decision[TransactionRecord, object]:
        identity = self._identity(op)
        request = AddOffsetsToTxnRequest(
            transactional_id=op.transactional_id,
            producer_id=identity.producer_id,
            producer_epoch=identity.producer_epoch,
            group_id="g",
        )
        where = TopicPartition("__consumer_offsets", 0)
        return self.world.shard.decide_add_offsets(request, 3, where, self.world.now_ms)

    def commit(self, op: Op) -> Decision[TransactionRecord, object]:
        identity = self._identity(op)
        request = EndTxnRequest(
            transactional_id=op.transactional_id,
            producer_id=identity.producer_id,
            producer_epoch=identity.producer_epoch,
            committed=op.name == "commit",
        )
        version = 4 if op.classic else 5
        return self.world.shard.decide_end(request, version, self.world.now_ms)

    abort = commit

    def markers(self, op: Op) -> Decision[TransactionRecord, object]:
        """Some are written, or all, or they are reported late and for another transaction."""
        tasks = self.world.shard.pending_markers()
        if not tasks:
            late = self._identity(op)
            return self.world.shard.decide_markers_written(
                op.transactional_id, late, (TopicPartition("t", 0),), self.world.now_ms
            )
        task = tasks[op.choice % len(tasks)]
        done = sorted(task.partitions)[: 1 + op.choice % 3]
        return self.world.shard.decide_markers_written(
            task.transactional_id, task.identity, done, self.world.now_ms
        )


versions = st.sampled_from([0, 1, 2, 2, 2])
first_epochs = st.sampled_from([None, None, EPOCH_MAX - 4, EPOCH_MAX - 2, EPOCH_MAX - 1])


@settings(max_examples=120, deadline=None)
@given(versions, first_epochs, st.lists(ops, min_size=20, max_size=60))
def test_whatever_happens(version: int, first_epoch: int | None, steps: list[Op]) -> None:
    walk = Walk(version, first_epoch)
    for number, op in enumerate(steps):
        walk.step(op)
        if number % 4 == 0:
            check_against_log(walk.world)
    check_against_log(walk.world)
    check_log(walk.world.log)
    check_everything_ends(walk.world)


def check_against_log(world: TransactionWorld) -> None:
    """A machine that replays the log knows what this one does, soft state apart."""
    copy = TransactionShard(world.config, lambda: None)
    for offset, record in enumerate(world.log):
        copy.replay(record, offset)
    live = {one.transactional_id: _durable(one) for one in world.shard.register}
    assert {one.transactional_id: _durable(one) for one in copy.register} == live
    loaded = {task.transactional_id: task for task in copy.pending_markers()}
    for task in world.shard.pending_markers():
        whole = loaded[task.transactional_id]
        assert task.partitions <= whole.partitions
        assert task.identity == whole.identity
        assert task.committed == whole.committed
    assert {task.transactional_id for task in world.shard.pending_markers()} == set(loaded)


def check_log(log: list[TransactionRecord]) -> None:
    """Only lawful ways; ids and epochs never go back; the end decided is the end that comes."""
    latest: dict[str, Transaction] = {}
    for record in log:
        before = latest.pop(record.transactional_id, None)
        if record.value is None:
            assert before is not None
            assert TransactionEvent.EXPIRED in TRANSITIONS[before.state]
            continue
        after = transaction_of(record.transactional_id, record.value)
        latest[record.transactional_id] = after
        if before is None:
            assert after.state is TransactionState.EMPTY
            continue
        assert after.identity >= before.identity
        assert after.state in _reachable(before.state)
        if after.is_completing:
            assert after.producer_id == before.producer_id
            assert after.partitions == before.partitions
            assert after.producer_epoch - before.producer_epoch <= 1


def _reachable(state: TransactionState) -> set[TransactionState]:
    ways = set(TRANSITIONS[state].values())
    if TransactionState.PREPARE_EPOCH_FENCE in ways:
        ways |= set(TRANSITIONS[TransactionState.PREPARE_EPOCH_FENCE].values())
    return ways


def check_everything_ends(world: TransactionWorld) -> None:
    """Left alone, transactions time out, and once their markers are written all is forgotten."""
    for _ in range(2):
        until_ms = world.now_ms + 200_000
        while world.ring(until_ms) is not None:
            pass
        for task in world.shard.pending_markers():
            world.take(
                world.shard.decide_markers_written(
                    task.transactional_id, task.identity, task.partitions, world.now_ms
                )
            )
        assert world.shard.pending_markers() == []
    assert len(world.shard.register) == 0
    assert len(world.timers) == 1
    assert world.timers.deadline_ms(ExpirationTimer()) is not None


def _durable(transaction: Transaction) -> Transaction:
    """What the oldest form of the log can hold."""
    return replace(
        transaction,
        last_producer_epoch=-1,
        previous_producer_id=-1,
        next_producer_id=-1,
        client_version=0,
    )


def _snapshot(shard: TransactionShard) -> object:
    return list(shard.register), shard.pending_markers()


def _knows(log: list[TransactionRecord], name: str) -> bool:
    of_name = [one for one in log if one.transactional_id == name]
    return bool(of_name) and of_name[-1].value is not None


def _history(log: list[TransactionRecord], name: str) -> list[Transaction]:
    of_name = (one for one in log if one.transactional_id == name)
    return [transaction_of(name, one.value) for one in of_name if one.value is not None]


def _is_success(reply: object) -> bool:
    if isinstance(reply, dict):
        return ErrorCode.NONE in reply.values()
    return getattr(reply, "error_code", ErrorCode.UNKNOWN_SERVER_ERROR) == ErrorCode.NONE


def test_the_walk_gets_somewhere() -> None:
    """Else the test above would test little."""
    walk = Walk(2, None)
    plain = {"transactional_id": "a", "who": 0, "off": 0, "choice": 5, "classic": False}
    for name in ("init", "add", "commit", "markers", "add"):
        walk.step(Op(name, written=True, **plain))
    assert walk.ends == {End("a", Identity(1000, 0), True)}
    assert walk.given["a"] == [Identity(1000, 0), Identity(1000, 1)]
    assert len([one for one in walk.world.log if marker_task(one)]) == 1
    transaction = walk.world.shard.register.find("a")
    assert transaction is not None
    assert transaction.state is TransactionState.ONGOING
