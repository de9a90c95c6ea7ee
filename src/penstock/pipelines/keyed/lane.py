"""A lane: the states of one source partition in this process, and the transactions that move them.

What a lane reads in memory is always what is committed, plus the changes of the transaction under
way. Rows before the position are skipped, so whatever Spark hands over a second time is written
once. When anything goes wrong on the way to the broker, whether the transaction took effect is
not guessed: the lane opens anew, which ends the old transaction one way or the other, reads the
position, and works on the rows it still has to.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from confluent_kafka import KafkaException, Producer, TopicPartition

from penstock.pipelines.error import DeclarationError, RunError, TransientError
from penstock.pipelines.kafka import CALL_TIMEOUT_S, produce_all, producer_settings
from penstock.pipelines.keyed.event import Event, Headers
from penstock.pipelines.keyed.failure import dead_letter_headers
from penstock.pipelines.keyed.group import group_metadata
from penstock.pipelines.keyed.state import (
    POSITION_KEY,
    PartitionState,
    Position,
    Stored,
    encode_position,
)
from penstock.pipelines.retry import POISON, Failure, Retry, try_again

EVENTS, SKIPPED, DEAD_LETTERS, STATES = "events", "skipped", "dead_letters", "states"
# From a record's time stamp to its commit, in ms: of the oldest record, and of one in the middle.
WAIT_MAX, WAIT = "wait_max_ms", "wait_ms"
BACKOFF_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneSpec:
    """What every lane of a run has in common; goes to the workers with each task."""

    pipeline: str
    run_ms: int
    topic: str
    step: Callable[..., Any]
    decode: Callable[[bytes], Any]
    outputs: Mapping[str, str]
    counters: tuple[str, ...]
    dead_letters: str
    state: str
    encode_state: Callable[[Any], bytes]
    decode_state: Callable[[bytes], Any]
    client: Mapping[str, Any]
    retry: Retry
    partitions: int = 1
    """How many the source has."""
    slots: int = 1
    """How many workers share them: slot i has i, i + slots, and so on."""
    starting: Mapping[int, int] = field(default_factory=dict)
    """Where partitions begin that have no position yet, if not at their beginning."""
    epoch_s: float = 2.0
    """How long one task follows the source; its figures are reported afterwards."""
    overtime_s: float = 0.0
    """How long a slot goes on without a task."""
    to_end: bool = False
    """A task ends when it has reached what is the end at its start, rather than by time."""
    halt: str = ""
    """Tasks end as soon as there is a file of this name."""
    outage_s: float = 60.0
    """How long a lane tries to get through to the broker before its task fails."""


class Rows(NamedTuple):
    """Records of one partition in ascending order, column by column."""

    keys: Sequence[bytes | None]
    values: Sequence[bytes | None]
    offsets: Sequence[int]
    timestamps_ms: Sequence[int]
    headers: Callable[[int], Headers]


class Lane:
    def __init__(self, spec: LaneSpec, partition: int) -> None:
        self.spec = spec
        self.partition = partition
        self.counts: Counter[str] = Counter()
        """Of the transaction under way."""
        self._state = PartitionState(spec.state, partition)
        self._changed: dict[bytes, Any] = {}
        self._pending: list[tuple[Rows, Mapping[str, Any]]] = []
        self._begun = False
        self._next = 0
        self._producer: Producer | None = None

    @property
    def is_open(self) -> bool:
        return self._producer is not None

    @property
    def position(self) -> int | None:
        """Offset of the next event; None before the first one ever."""
        position = self._state.position
        return None if position is None else position.offset

    @property
    def states(self) -> Mapping[bytes, Any]:
        """Committed states; those not used yet as they stand in the topic."""
        return self._state.states

    def feed(self, rows: Rows, tables: Mapping[str, Any]) -> None:
        """Work on rows, in the transaction under way or a new one."""
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
        counts, self.counts = self.counts, Counter()
        if self._pending:
            # Rows stand in the order they were written in: the first has waited longest.
            timestamps_ms = self._pending[0][0].timestamps_ms
            now_ms = int(time.time() * 1000)
            counts[WAIT_MAX] = max(0, now_ms - timestamps_ms[0])
            counts[WAIT] = max(0, now_ms - timestamps_ms[len(timestamps_ms) // 2])
        self._pending.clear()
        return counts

    def close(self) -> None:
        """Leave what is not committed; the next feed opens the lane anew."""
        self._leave()
        self._pending.clear()
        self.counts = Counter()

    def _leave(self) -> None:
        self._producer = None
        self._changed.clear()
        self._begun = False

    def _open(self) -> None:
        """Fence out whoever held the partition, then read what they committed."""
        spec = self.spec
        self._leave()
        producer = Producer(
            producer_settings(spec.client, f"penstock.{spec.pipeline}.{self.partition}")
        )
        producer.init_transactions(CALL_TIMEOUT_S)
        self._state.restore(spec.client, f"{spec.pipeline}.restore")
        position = self._state.position
        if position is not None and position.run_ms > spec.run_ms:
            raise RunError(
                f"a newer run of {spec.pipeline} has taken over partition {self.partition}:"
                " stop one of the two"
            )
        self._producer = producer

    def _recover(self, first: KafkaException, work: Callable[[], None]) -> None:
        deadline = time.monotonic() + self.spec.outage_s
        error = first
        while time.monotonic() < deadline:
            time.sleep(BACKOFF_S)
            try:
                self._open()
                work()
                return
            except KafkaException as again:
                error = again
        self.close()
        raise error

    def _work_pending(self) -> None:
        self.counts = Counter()
        for rows, tables in self._pending:
            self._work(rows, tables)

    def _finish_pending(self) -> None:
        self._work_pending()
        self._finish()

    def _work(self, rows: Rows, tables: Mapping[str, Any]) -> None:
        spec, partition = self.spec, self.partition
        step, decode, decode_state = spec.step, spec.decode, spec.decode_state
        changed, states, position = self._changed, self._state.states, self.position or 0
        written: dict[str, list[dict[str, Any]]] = {name: [] for name in spec.outputs}
        written.update({name: [] for name in spec.counters})
        make = tuple.__new__  # as Event(...), without the call
        skipped = 0
        dead: list[tuple[int, Failure]] = []
        index = -1
        for key, value, offset, timestamp_ms in zip(
            rows.keys, rows.values, rows.offsets, rows.timestamps_ms, strict=True
        ):
            index += 1
            if offset < position:
                skipped += 1
                continue
            own = key or b""
            state = changed[own] if own in changed else states.get(own)
            if type(state) is Stored:
                state = decode_state(bytes(state))
            try:
                event = make(Event, (decode(value), own, partition, offset, timestamp_ms))  # type: ignore[arg-type]
                new, outputs = step(state, event, tables)
            except Exception as error:
                answer = self._failed(error, state, value, own, offset, timestamp_ms, tables)
                if isinstance(answer, Failure):
                    dead.append((index, answer))
                    continue
                new, outputs = answer
            if new is not state:
                changed[own] = new
            for name, out_key, out_value in outputs:
                try:
                    written[name].append({"key": out_key, "value": out_value})
                except KeyError:
                    raise DeclarationError(
                        f"the step of {spec.pipeline} writes to {name!r}, which is none of its"
                        f" outputs: {', '.join(written)}"
                    ) from None
        self._write(rows, written, dead, skipped)

    def _failed(
        self,
        error: Exception,
        state: Any,
        value: bytes | None,
        key: bytes,
        offset: int,
        timestamp_ms: int,
        tables: Mapping[str, Any],
    ) -> Any:
        """What the step returns when tried again, or the Failure."""
        if not isinstance(error, TransientError):
            return Failure(error, 1, POISON)

        def again() -> Any:
            content = self.spec.decode(value)  # type: ignore[arg-type]
            event = Event(content, key, self.partition, offset, timestamp_ms)
            return self.spec.step(state, event, tables)

        return try_again(again, error, self.spec.retry)

    def _write(
        self,
        rows: Rows,
        written: Mapping[str, list[dict[str, Any]]],
        dead: Sequence[tuple[int, Failure]],
        skipped: int,
    ) -> None:
        count = len(rows.offsets) - skipped
        self.counts.update({EVENTS: count, SKIPPED: skipped, DEAD_LETTERS: len(dead)})
        if not count:
            return
        self._next = rows.offsets[-1] + 1
        producer = self._begin()
        for name, messages in written.items():
            self.counts[name] += len(messages)
            if messages and name in self.spec.outputs:
                produce_all(producer, self.spec.outputs[name], messages)
        for index, failure in dead:
            self._bury(producer, rows, index, failure)

    def _bury(self, producer: Producer, rows: Rows, index: int, failure: Failure) -> None:
        headers = dead_letter_headers(
            rows.headers(index),
            failure,
            pipeline=self.spec.pipeline,
            topic=self.spec.topic,
            partition=self.partition,
            offset=rows.offsets[index],
            timestamp_ms=rows.timestamps_ms[index],
        )
        producer.produce(
            self.spec.dead_letters, rows.values[index], rows.keys[index], headers=headers
        )

    def _begin(self) -> Producer:
        assert self._producer is not None
        if not self._begun:
            self._producer.begin_transaction()
            self._begun = True
        return self._producer

    def _finish(self) -> None:
        """States, position and source offset, then the commit; only then they are what is."""
        if not self._begun:
            return
        spec, producer = self.spec, self._begin()
        encode = spec.encode_state
        messages: list[dict[str, Any]] = [
            {"key": key, "value": None if state is None else encode(state)}
            for key, state in self._changed.items()
        ]
        position = Position(self._next, spec.run_ms, spec.partitions)
        messages.append({"key": POSITION_KEY, "value": encode_position(position)})
        produce_all(producer, spec.state, messages, self.partition)
        producer.send_offsets_to_transaction(
            [TopicPartition(spec.topic, self.partition, self._next)],
            group_metadata(spec.client, spec.pipeline),
            CALL_TIMEOUT_S,
        )
        producer.commit_transaction(CALL_TIMEOUT_S)
        self.counts[STATES] += len(self._changed)
        self._begun = False
        self._keep(position)

    def _keep(self, position: Position) -> None:
        states = self._state.states
        states.update(self._changed)
        for key in [key for key, state in self._changed.items() if state is None]:
            del states[key]
        self._changed.clear()
        self._state.position = position
