"""Dead letters sent back to where they came from, each of them once.

A transaction holds the letters and the ledger of what was sent, so a run that is interrupted and
started again continues after the last whole transaction. A second run at the same time takes over
from the first, which then ends with an error and has sent nothing twice.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer

from penstock.client.offset_ranges import ScatteredError
from penstock.client.steady import STEADY_TRANSACTIONS
from penstock.pipelines.dlq import Choice, DeadLetter, Headers
from penstock.pipelines.ledger import Ledger
from penstock.pipelines.scan import Scan
from penstock.pipelines.transforms import dead_letter as name

_TRANSACTION_LETTERS = 500
_TRANSACTION_S = 1.0


class RedriveError(Exception):
    """The letters could not be sent back; the message says what to do."""


@dataclass(slots=True)
class Outcome:
    sent: int = 0
    by_topic: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Parcel:
    """What one transaction takes."""

    limit: int
    letters: list[DeadLetter] = field(default_factory=list)
    opened: float = field(default_factory=time.monotonic)

    @property
    def is_full(self) -> bool:
        full = len(self.letters) >= self.limit
        return full or time.monotonic() - self.opened > _TRANSACTION_S


class Redrive:
    def __init__(
        self,
        client: Mapping[str, Any],
        topic: str,
        choice: Choice | None = None,
        *,
        limit: int | None = None,
        rate: float | None = None,
        timeout_s: float = 10.0,
        on_sent: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.outcome = Outcome()
        self._client = dict(client)
        self._topic = topic
        self._choice = choice or Choice()
        self._limit = limit
        self._rate = rate
        self._timeout_s = timeout_s
        self._on_sent = on_sent
        self._partitions: dict[str, int] = {}
        self._ledger = Ledger(topic)

    def plan(self) -> Outcome:
        """What a run would send. Nothing is written."""
        for letter in self._walk():
            self._count(letter)
        return self.outcome

    def run(self) -> Outcome:
        producer = self._producer()
        limit = self._parcel_letters()
        parcel = _Parcel(limit)
        began = time.monotonic()
        for letter in self._walk():
            parcel.letters.append(letter)
            if parcel.is_full:
                self._send(producer, parcel)
                parcel = _Parcel(limit)
                self._wait_for_turn(began)
        self._send(producer, parcel)
        return self.outcome

    def _parcel_letters(self) -> int:
        """With a rate, a tenth of a second's worth, so that it is steady and not in bursts."""
        if self._rate is None:
            return _TRANSACTION_LETTERS
        return max(1, min(_TRANSACTION_LETTERS, int(self._rate / 10)))

    def _walk(self) -> Iterator[DeadLetter]:
        """The letters to send, by partition and offset; the ledger notes each one, sent or not."""
        remaining = self._limit
        with self._open() as scan:
            for record in scan.records():
                letter = DeadLetter.of(record)
                place = (letter.partition, letter.offset)
                known = self._ledger.holds(*place)
                send = not known and self._takes(letter)
                self._ledger.passed(*place, sent=known or send)
                if send:
                    remaining = None if remaining is None else remaining - 1
                    yield letter
                    if remaining == 0:
                        return

    def _open(self) -> Scan:
        whole = Scan(self._client, self._topic, timeout_s=self._timeout_s)
        with whole:
            partitions = whole.partitions
        if self._choice.partition is not None:
            if self._choice.partition not in partitions:
                raise RedriveError(f"{self._topic} has no partition {self._choice.partition}")
            partitions = [self._choice.partition]
        self._ledger = Ledger.read(self._client, self._topic, partitions, self._timeout_s)
        starts = {each: self._ledger.position(each) for each in partitions}
        return Scan(
            self._client,
            self._topic,
            partitions=partitions,
            starts=starts,
            timeout_s=self._timeout_s,
        )

    def _takes(self, letter: DeadLetter) -> bool:
        return letter.origin_topic is not None and self._choice.takes(letter)

    def _producer(self) -> Producer:
        own = {"transactional.id": self._topic + ".redrive", "transaction.timeout.ms": 60_000}
        own |= {"linger.ms": 5, **STEADY_TRANSACTIONS}
        # The broker decides what is too large, by its own or its topic's max.message.bytes.
        own |= {"message.max.bytes": 100_000_000}
        producer = Producer(self._client | own)
        # Ends what an earlier run left open: only then does the ledger hold all that was sent.
        producer.init_transactions(self._timeout_s)
        return producer

    def _send(self, producer: Producer, parcel: _Parcel) -> None:
        if not parcel.letters:
            return
        partitions = {letter.partition for letter in parcel.letters}
        try:
            offsets = self._ledger.commits(partitions)
            producer.begin_transaction()
            for letter in parcel.letters:
                self._produce(producer, letter)
            group = self._ledger.group_metadata
            producer.send_offsets_to_transaction(offsets, group, self._timeout_s)
            _commit(producer, self._timeout_s)
        except ScatteredError as error:
            raise RedriveError(
                "the letters chosen are too scattered to remember; redrive with a smaller --limit, "
                "one --partition at a time, or without --error"
            ) from error
        except KafkaException as error:
            raise self._explain(producer, error) from error
        for letter in parcel.letters:
            self._count(letter)
        self._on_sent(len(parcel.letters))

    def _produce(self, producer: Producer, letter: DeadLetter) -> None:
        topic = letter.origin_topic
        assert topic is not None
        producer.produce(
            topic,
            key=letter.key,
            value=letter.value,
            headers=list[tuple[str, str | bytes | None]](redriven_headers(letter)),
            partition=self._partition(producer, topic, letter.origin_partition),
        )
        producer.poll(0)

    def _partition(self, producer: Producer, topic: str, wanted: int | None) -> int:
        """Where it was, so that its place among its neighbours' keys holds; -1 lets the key say."""
        if topic not in self._partitions:
            found = producer.list_topics(topic, timeout=self._timeout_s).topics[topic]
            if found.error is not None:
                raise RedriveError(f"there is no topic {topic} any more to send letters back to")
            self._partitions[topic] = len(found.partitions)
        known = wanted is not None and 0 <= wanted < self._partitions[topic]
        return wanted if known and wanted is not None else -1

    def _count(self, letter: DeadLetter) -> None:
        topic = letter.origin_topic or "unknown"
        self.outcome.sent += 1
        self.outcome.by_topic[topic] = self.outcome.by_topic.get(topic, 0) + 1

    def _wait_for_turn(self, began: float) -> None:
        if self._rate is not None:
            due = began + self.outcome.sent / self._rate
            time.sleep(max(0.0, due - time.monotonic()))

    def _explain(self, producer: Producer, error: KafkaException) -> RedriveError:
        cause = error.args[0]
        if cause.code() in (KafkaError._FENCED, KafkaError.INVALID_PRODUCER_EPOCH):
            return RedriveError(f"another redrive of {self._topic} took over; nothing went twice")
        if cause.txn_requires_abort():
            producer.abort_transaction(self._timeout_s)
        return RedriveError(f"{cause.str()}; run the same command again, it goes on from here")


def _commit(producer: Producer, timeout_s: float) -> None:
    """A commit that times out is asked for again: its outcome is not known until it is answered."""
    for attempt in range(3):
        try:
            producer.commit_transaction(timeout_s)
            return
        except KafkaException as error:
            if not error.args[0].retriable() or attempt == 2:
                raise


def redriven_headers(letter: DeadLetter) -> Headers:
    """The record's own headers as they were; ours once each, with the failure in the history."""
    theirs: Headers = [one for one in letter.headers if not one[0].startswith(name.HEADER_PREFIX)]
    history = letter.history
    failure = {
        "error": letter.error,
        "message": letter.message,
        "attempt": letter.attempt,
        "time": letter.timestamp_ms,
    }
    if failure not in history:
        history.append(failure)
    said = letter.said | {
        name.REDRIVEN: str(letter.redriven + 1),
        name.HISTORY: json.dumps(history, ensure_ascii=False, separators=(",", ":")),
    }
    return theirs + [(key, value.encode()) for key, value in said.items()]
