"""Judging events: what the step makes of them, of the states of their keys, and of failures.

Both places for the state use it, the compacted topic and Spark's own store: they look states up,
and write what a `Judging` holds in the end. Nothing here knows a broker or Spark.

A state is kept encoded, as it would be written. The step gets a fresh copy that it may change in
place; the state after an event is encoded at once. So a change in place is seen like any other, a
step that fails halfway has changed nothing, and a state that cannot be encoded is the failure of
the event it came from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from penstock.pipelines.error import DeclarationError, TransientError
from penstock.pipelines.keyed.event import Content, Event, Headers, Output
from penstock.pipelines.keyed.expected import ExpectationFailed, refusals
from penstock.pipelines.keyed.failure import dead_letter_headers
from penstock.pipelines.retry import POISON, Failure, Retry, try_again
from penstock.pipelines.transforms.decoder import Tombstones
from penstock.pipelines.transforms.expectation import Expectation

EVENTS, SKIPPED, DEAD_LETTERS, STATES = "events", "skipped", "dead_letters", "states"

Lookup = Callable[[bytes], bytes | None]
"""The encoded state of a key before all that is being judged; None where there is none."""
Message = dict[str, Content]
"""A record's `key` and `value`, as `produce_batch` takes them."""


class Tombstone(Exception):
    """A record without a value where that is a failure; named as DataFrame pipelines name it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSpec:
    """What judging takes, whatever holds the state; goes to the workers with each task."""

    pipeline: str
    topic: str
    """The source's."""
    step: Callable[..., tuple[Any, Sequence[Output]]]
    decode: Callable[[bytes], Any]
    tombstones: Tombstones = "dead-letter"
    outputs: tuple[str, ...] = ()
    counters: tuple[str, ...] = ()
    encode_state: Callable[[Any], bytes] = orjson.dumps
    decode_state: Callable[[bytes], Any] = orjson.loads
    retry: Retry = field(default_factory=Retry)
    rules: tuple[Expectation, ...] = ()
    """What records are to satisfy, where their rows say which they break."""


class Rows(NamedTuple):
    """Records of one partition in ascending order, column by column."""

    keys: Sequence[bytes | None]
    values: Sequence[bytes | None]
    offsets: Sequence[int]
    timestamps_ms: Sequence[int]
    headers: Callable[[int], Headers]
    broken: Sequence[int | None] = ()
    """The rules that each breaks, as bits; empty where there are none."""


class DeadLetter(NamedTuple):
    key: bytes | None
    value: bytes | None
    headers: Headers


class Judging:
    """What the events of one transaction come to. A new one for each transaction."""

    def __init__(self, spec: StepSpec, lookup: Lookup) -> None:
        self._spec = spec
        self._lookup = lookup
        self._touched: dict[bytes, tuple[Any, bytes | None]] = {}
        """Of each key the state after its last event, and the same encoded."""
        self.outputs: dict[str, list[Message]] = {name: [] for name in spec.outputs}
        self._counted: dict[str, list[Message]] = {name: [] for name in spec.counters}
        self.dead_letters: list[DeadLetter] = []
        self._numbers: Counter[str] = Counter()

    def judge(
        self, partition: int, rows: Rows, tables: Mapping[str, Any], *, start: int = 0
    ) -> None:
        """Judge those rows of a partition that are not before `start`: these were judged before."""
        spec, touched, lookup = self._spec, self._touched, self._lookup
        step, decode = spec.step, spec.decode
        encode_state, decode_state = spec.encode_state, spec.decode_state
        written = {**self._counted, **self.outputs}
        refused = self._refused(rows, start)
        make = tuple.__new__  # as Event(...), without the call
        index = -1
        for key, value, offset, timestamp_ms in zip(
            rows.keys, rows.values, rows.offsets, rows.timestamps_ms, strict=True
        ):
            index += 1
            if offset < start:
                self._numbers[SKIPPED] += 1
                continue
            own = key or b""
            if own in touched:
                state, encoded = touched[own]
            else:
                encoded = lookup(own)
                state = None if encoded is None else decode_state(encoded)
            try:
                if refused and index in refused:
                    raise refused[index]
                content = self._absent() if value is None else decode(value)
                event = make(Event, (content, own, partition, offset, timestamp_ms))
                new, outputs = step(state, event, tables)
                after = None if new is None else encode_state(new)
            except _DropError:
                continue
            except Exception as error:
                again = (value, own, partition, offset, timestamp_ms)
                answer = self._failed(error, encoded, again, tables)
                if isinstance(answer, Failure):
                    self._bury(partition, rows, index, answer)
                    if own in touched:  # the step may have changed it before it failed
                        touched[own] = self._fresh(encoded), encoded
                    continue
                new, after, outputs = answer
            touched[own] = new, after
            for name, out_key, out_value in outputs:
                try:
                    written[name].append({"key": out_key, "value": out_value})
                except KeyError:
                    raise self._undeclared(name) from None
        self._numbers[EVENTS] += len(rows.offsets)

    def changed(self) -> dict[bytes, bytes | None]:
        """The states that are not what they were, encoded; None for keys that are forgotten."""
        lookup = self._lookup
        return {
            key: encoded for key, (_, encoded) in self._touched.items() if encoded != lookup(key)
        }

    def counts(self) -> Counter[str]:
        """Events, those skipped, dead letters, and the records of each output and counter."""
        counts = Counter(self._numbers)
        counts[EVENTS] -= counts[SKIPPED]
        counts[DEAD_LETTERS] = len(self.dead_letters)
        for name, messages in (*self.outputs.items(), *self._counted.items()):
            counts[name] = len(messages)
        return counts

    def _refused(self, rows: Rows, start: int) -> dict[int, ExpectationFailed]:
        """The rows that are dead letters by a rule; and every rule's outcome is counted."""
        if not rows.broken:
            return {}
        broken = [
            bits if offset >= start else None
            for offset, bits in zip(rows.offsets, rows.broken, strict=True)
        ]
        refused, counts = refusals(self._spec.rules, broken)
        self._numbers.update(counts)
        return refused

    def _absent(self) -> Any:
        """The content of an event without a value, where such events are to be judged."""
        if self._spec.tombstones == "drop":
            raise _DropError
        if self._spec.tombstones == "dead-letter":
            raise Tombstone("the record has no value")
        return None

    def _fresh(self, encoded: bytes | None) -> Any:
        return None if encoded is None else self._spec.decode_state(encoded)

    def _failed(
        self,
        error: Exception,
        encoded: bytes | None,
        record: tuple[bytes | None, bytes, int, int, int],
        tables: Mapping[str, Any],
    ) -> tuple[Any, bytes | None, Sequence[Output]] | Failure:
        """State, encoded state and outputs when it works at a later attempt, or the Failure."""
        if not isinstance(error, TransientError):
            return Failure(error, 1, POISON)
        spec, (value, *place) = self._spec, record

        def again() -> tuple[Any, bytes | None, Sequence[Output]]:
            content = None if value is None else spec.decode(value)
            event = Event(content, *place)  # type: ignore[arg-type]
            new, outputs = spec.step(self._fresh(encoded), event, tables)
            return new, None if new is None else spec.encode_state(new), outputs

        return try_again(again, error, spec.retry)

    def _bury(self, partition: int, rows: Rows, index: int, failure: Failure) -> None:
        headers = dead_letter_headers(
            rows.headers(index),
            failure,
            pipeline=self._spec.pipeline,
            topic=self._spec.topic,
            partition=partition,
            offset=rows.offsets[index],
            timestamp_ms=rows.timestamps_ms[index],
        )
        self.dead_letters.append(DeadLetter(rows.keys[index], rows.values[index], headers))

    def _undeclared(self, name: str) -> DeclarationError:
        declared = ", ".join([*self.outputs, *self._counted])
        return DeclarationError(
            f"the step of {self._spec.pipeline} writes to {name!r}, which is none of its"
            f" outputs: {declared}"
        )


class _DropError(Exception):
    """An event that is left out without a word."""
