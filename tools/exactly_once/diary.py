"""A copier's side of the history: each thing is noted before it is asked for, and when answered."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from confluent_kafka import Message
from confluent_kafka import TopicPartition as Position

from penstock.model.id import TopicPartition
from penstock.testing.history import (
    Assign,
    Begin,
    Commit,
    End,
    Outcome,
    Poll,
    Produce,
    Recorder,
    Seen,
)
from tools.exactly_once.setup import GROUP, SOURCE, now_s


class Diary:
    def __init__(self, process: str, recorder: Recorder) -> None:
        self._process = process
        self._recorder = recorder
        self._number = 0
        self._transaction = ""
        self._end_began_s = 0.0

    def now_s(self) -> float:
        return now_s()

    def assigned(self, committed: list[Position], began_s: float) -> None:
        self._recorder.note(
            *(
                Assign(
                    process=self._process,
                    began_s=began_s,
                    ended_s=now_s(),
                    partition=TopicPartition(SOURCE, position.partition),
                    position=position.offset if position.offset >= 0 else None,
                    group=GROUP,
                )
                for position in committed
            )
        )

    def polled(self, batch: list[Message]) -> None:
        records: dict[int, list[Seen]] = defaultdict(list)
        for message in batch:
            seen = Seen(message.offset() or 0, (message.value() or b"").decode())
            records[message.partition() or 0].append(seen)
        for index, found in records.items():
            where = TopicPartition(SOURCE, index)
            when = now_s()
            self._recorder.note(
                Poll(
                    process=self._process,
                    began_s=when,
                    ended_s=when,
                    partition=where,
                    records=tuple(found),
                )
            )

    def begun(self) -> str:
        self._number += 1
        self._transaction = f"{self._process}/{self._number}"
        when = now_s()
        self._recorder.note(
            Begin(process=self._process, began_s=when, ended_s=when, transaction=self._transaction)
        )
        return self._transaction

    def sending(self, where: TopicPartition, value: bytes) -> Produce:
        began_s = now_s()
        send = Produce(
            process=self._process,
            began_s=began_s,
            ended_s=began_s,
            partition=where,
            value=value.decode(),
            outcome=Outcome.UNKNOWN,
            transaction=self._transaction,
        )
        self._recorder.note(send)
        return send

    def sent(self, send: Produce, offset: int | None) -> None:
        self._recorder.note(replace(send, ended_s=now_s(), outcome=Outcome.OK, offset=offset))

    def offsets_sent(self, offsets: list[Position]) -> None:
        """Noted as taken: were they not, the transaction could not commit."""
        self._offsets(offsets, Outcome.OK, self._transaction)

    def offsets_beside(self, offsets: list[Position], outcome: Outcome) -> None:
        self._offsets(offsets, outcome, None)

    def _offsets(self, offsets: list[Position], outcome: Outcome, transaction: str | None) -> None:
        when = now_s()
        self._recorder.note(
            *(
                Commit(
                    process=self._process,
                    began_s=when,
                    ended_s=when,
                    group=GROUP,
                    partition=TopicPartition(SOURCE, position.partition),
                    offset=position.offset,
                    outcome=outcome,
                    transaction=transaction,
                )
                for position in offsets
            )
        )

    def ending(self, *, commit: bool) -> None:
        self._end_began_s = now_s()
        self._end(commit, Outcome.UNKNOWN)

    def ended(self, *, commit: bool) -> None:
        self._end(commit, Outcome.OK)

    def _end(self, commit: bool, outcome: Outcome) -> None:
        self._recorder.note(
            End(
                process=self._process,
                began_s=self._end_began_s,
                ended_s=now_s(),
                transaction=self._transaction,
                commit=commit,
                outcome=outcome,
            )
        )
