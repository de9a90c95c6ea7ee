"""A lane: the states of one source partition in this process, and the transactions that move them.

What a lane holds in memory is what is committed; what a transaction changes comes to it with the
commit. Rows before the position are skipped, so whatever Spark hands over a second time is written
once. When anything goes wrong on the way to the broker, whether the transaction took effect is
not guessed: the lane opens anew, which ends the old transaction one way or the other, reads the
position, and works on the rows it still has to. A lane that another one has fenced out does not:
its task fails, so that two attempts at one task never fight for a partition.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition

from penstock.pipelines.error import RunError
from penstock.pipelines.kafka import CALL_TIMEOUT_S, produce_all, producer_settings
from penstock.pipelines.keyed.group import group_metadata
from penstock.pipelines.keyed.judging import (
    DEAD_LETTERS,
    EVENTS,
    STATES,
    DeadLetter,
    Judging,
    Rows,
    StepSpec,
)
from penstock.pipelines.keyed.state import (
    POSITION_KEY,
    PartitionState,
    Position,
    encode_position,
    state_key,
)
from penstock.pipelines.transforms.expectation import metric_names

COMMITS, OPENS, JUDGE_MS, COMMIT_MS = "commits", "opens", "judge_ms", "commit_ms"
BACKOFF_S = 0.2
# How long a wait counts as recent: whoever looks once a second sees the longest of each second.
_RECENT_S = 1.5
_FENCED = (
    KafkaError._FENCED,
    KafkaError._FATAL,
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.PRODUCER_FENCED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneSpec:
    """What every lane of a run has in common; goes to the workers with each task."""

    step: StepSpec
    run: str
    """Claims the partitions: a lane gives up when it finds another run's name with a position."""
    topics: Mapping[str, str]
    """Of the outputs, by their names."""
    dead_letters: str
    state: str
    client: Mapping[str, Any]
    partitions: int = 1
    """How many the source has."""
    outage_s: float = 60.0
    """How long a lane tries to get through to the broker before its task fails."""

    @property
    def counted(self) -> tuple[str, ...]:
        """What is counted, in the order in which positions hold it."""
        own = (EVENTS, DEAD_LETTERS, STATES, COMMITS, OPENS, JUDGE_MS, COMMIT_MS)
        rules = metric_names(self.step.rules) if self.step.rules else ()
        return (*own, *self.step.outputs, *self.step.counters, *rules)


class Lane:
    def __init__(self, spec: LaneSpec, partition: int) -> None:
        self.spec = spec
        self.partition = partition
        self.batch: int | None = None
        """The last of Spark's batches that it worked for."""
        self.totals: Counter[str] = Counter()
        """Committed by this run in this partition."""
        self._state = PartitionState(spec.state, partition)
        self._pending: list[tuple[Rows, Mapping[str, Any]]] = []
        self._judging = Judging(spec.step, self._state.states.get)
        self._sent: Counter[str] = Counter()
        self._began_s: float | None = None
        self._next = 0
        self._waits: list[tuple[float, int, int]] = []
        self._producer: Producer | None = None

    @property
    def position(self) -> int | None:
        """Offset of the next event; None before the lane was first opened."""
        position = self._state.position
        return None if position is None else position.offset

    @property
    def states(self) -> Mapping[bytes, bytes]:
        """Committed states, encoded."""
        return self._state.states

    @property
    def rows_pending(self) -> int:
        return sum(len(rows.offsets) for rows, _ in self._pending)

    @property
    def began_s(self) -> float | None:
        """When the transaction under way began, by the monotonic clock."""
        return self._began_s

    def feed(self, rows: Rows, tables: Mapping[str, Any]) -> None:
        """Judge rows, in the transaction under way or a new one."""
        self._pending.append((rows, tables))
        try:
            self.open()
            self._work(rows, tables)
        except KafkaException as error:
            self._recover(error, self._work_pending)

    def open(self) -> None:
        """With the patience that an outage of the broker needs."""
        if self._producer is None:
            try:
                self._open()
            except KafkaException as error:
                self._recover(error, lambda: None)

    def commit(self) -> Counter[str]:
        """Commit what was fed since the last commit; what it came to."""
        try:
            self._finish()
        except KafkaException as error:
            self._recover(error, self._finish_pending)
        counts = self._judging.counts()
        self._pending.clear()
        self._start_over()
        return counts

    def close(self) -> None:
        """Leave what is not committed; the next feed opens the lane anew."""
        self._producer = None
        self._pending.clear()
        self._start_over()

    def _start_over(self) -> None:
        """Nothing of a next transaction is done yet."""
        self._judging = Judging(self.spec.step, self._state.states.get)
        self._sent.clear()
        self._began_s = None
        self._next = 0

    def _open(self) -> None:
        """Fence out whoever held the partition, then read what they committed."""
        spec, name = self.spec, self.spec.step.pipeline
        self._producer = None
        self._start_over()
        producer = lane_producer(spec.client, name, self.partition)
        producer.init_transactions(CALL_TIMEOUT_S)
        self._state.restore(spec.client, f"{name}.restore")
        position = self._state.position
        if position is None:
            raise RunError(
                f"the position of partition {self.partition} is gone from {spec.state}:"
                " was the topic deleted?"
            )
        if position.run != spec.run:
            raise RunError(
                f"a newer run of {name} has taken over partition {self.partition}:"
                " stop one of the two"
            )
        self.totals = Counter(dict(zip(spec.counted, position.counts, strict=False)))
        self.totals[OPENS] += 1
        self._producer = producer

    def _recover(self, first: KafkaException, work: Callable[[], None]) -> None:
        deadline = time.monotonic() + self.spec.outage_s
        error = first
        while not is_fenced(error) and time.monotonic() < deadline:
            time.sleep(BACKOFF_S)
            try:
                self._open()
                work()
                return
            except KafkaException as again:
                error = again
        self.close()
        if is_fenced(error):
            raise RunError(f"another attempt works on partition {self.partition} now") from error
        raise error

    def _work_pending(self) -> None:
        for rows, tables in self._pending:
            self._work(rows, tables)

    def _finish_pending(self) -> None:
        self._work_pending()
        self._finish()

    def _work(self, rows: Rows, tables: Mapping[str, Any]) -> None:
        position = self.position or 0
        if not rows.offsets or rows.offsets[-1] < position:
            return
        if rows.offsets[0] < self._next:
            raise RunError(f"rows of partition {self.partition} came in no order: not by Spark?")
        began = time.monotonic()
        self._judging.judge(self.partition, rows, tables, start=position)
        self.totals[JUDGE_MS] += _ms_since(began)
        self._next = rows.offsets[-1] + 1
        self._write(self._begin())

    def _begin(self) -> Producer:
        assert self._producer is not None
        if self._began_s is None:
            self._producer.begin_transaction()
            self._began_s = time.monotonic()
        return self._producer

    def _write(self, producer: Producer) -> None:
        """Hand over what was judged last; it is sent while more is judged."""
        judging, sent = self._judging, self._sent
        for name, topic in self.spec.topics.items():
            messages = judging.outputs[name]
            if len(messages) > sent[name]:
                produce_all(producer, topic, messages[sent[name] :])
                sent[name] = len(messages)
        for letter in judging.dead_letters[sent[DEAD_LETTERS] :]:
            self._bury(producer, letter)
        sent[DEAD_LETTERS] = len(judging.dead_letters)

    def _bury(self, producer: Producer, letter: DeadLetter) -> None:
        while True:
            try:
                producer.produce(
                    self.spec.dead_letters, letter.value, letter.key, headers=letter.headers
                )
                return
            except BufferError:
                producer.poll(0.05)

    def _finish(self) -> None:
        """States, position and source offset, then the commit; only then they are what is."""
        if self._began_s is None:
            return
        spec, producer, began = self.spec, self._begin(), time.monotonic()
        changed = self._judging.changed()
        totals = self.totals + self._judging.counts()
        totals[STATES] += len(changed)
        totals[COMMITS] += 1
        counts = tuple(totals[name] for name in spec.counted)
        position = Position(self._next, spec.run, spec.partitions, counts)
        messages: list[dict[str, Any]] = [
            {"key": state_key(key), "value": value} for key, value in changed.items()
        ]
        messages.append({"key": POSITION_KEY, "value": encode_position(position)})
        produce_all(producer, spec.state, messages, self.partition)
        place = TopicPartition(
            spec.step.topic,
            self.partition,
            self._next,
            encode_report(spec.run, counts, self._waited_ms()),
        )
        group = group_metadata(spec.client, spec.step.pipeline)
        producer.send_offsets_to_transaction([place], group, CALL_TIMEOUT_S)
        producer.commit_transaction(CALL_TIMEOUT_S)
        self._state.keep(changed, position)
        self.totals = totals
        self.totals[COMMIT_MS] += _ms_since(began)

    def _waited_ms(self) -> tuple[int, int]:
        """From time stamp to commit, lately: the middle record of the last transaction, and the
        oldest record of all."""
        now_s, now_ms = time.monotonic(), int(time.time() * 1000)
        # Rows stand in the order they were written in: the first has waited longest.
        stamps = self._pending[0][0].timestamps_ms
        middle = max(0, now_ms - stamps[len(stamps) // 2])
        self._waits = [each for each in self._waits if each[0] > now_s - _RECENT_S]
        self._waits.append((now_s, middle, max(0, now_ms - stamps[0])))
        return middle, max(each[2] for each in self._waits)


def lane_producer(client: Mapping[str, Any], pipeline: str, partition: int) -> Producer:
    """To hold a partition; `init_transactions` takes it from whoever held it."""
    return Producer(producer_settings(client, f"penstock.{pipeline}.{partition}"))


def is_fenced(error: KafkaException) -> bool:
    return error.args[0].code() in _FENCED


def encode_report(run: str, counts: tuple[int, ...], waited_ms: tuple[int, int]) -> str:
    """What a transaction tells of its partition, beside the group's offset: for the driver."""
    return orjson.dumps({"run": run, "counts": counts, "waited_ms": waited_ms}).decode()


def _ms_since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
