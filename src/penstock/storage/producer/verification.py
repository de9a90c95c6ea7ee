"""Batches whose transaction is being asked about elsewhere, before they may be its first here.

The answer takes its time, and two things may happen meanwhile. The transaction may end: a batch
that comes behind its marker would begin one that nobody ever ends (KIP-890). Or the answer fails,
and a later batch of the producer is answered first: written, it would leave a gap that its sender
cannot fill (KAFKA-14920). Owns what is needed to notice both; asks nobody.
"""

from __future__ import annotations

from typing import NamedTuple

from penstock.model.error import ApiError, ErrorCode


class Guard(NamedTuple):
    """The log as it was when the question was asked."""

    leader_epoch: int
    end_offset: int


class Awaited(NamedTuple):
    """The first batch that a producer has tried to write, and has not yet."""

    epoch: int
    sequence: int
    asked_ms: int


class Verifications:
    __slots__ = ("_awaited",)

    def __init__(self) -> None:
        self._awaited: dict[int, Awaited] = {}

    def note(self, producer_id: int, epoch: int, sequence: int, now_ms: int) -> None:
        """A producer that is not known here yet asks to begin with this sequence number."""
        known = self._awaited.get(producer_id)
        if known is not None and known.epoch == epoch:
            sequence = min(sequence, known.sequence)
        elif known is not None and known.epoch > epoch:
            return
        self._awaited[producer_id] = Awaited(epoch, sequence, now_ms)

    def check_first(self, producer_id: int, epoch: int, sequence: int) -> None:
        known = self._awaited.get(producer_id)
        if known is not None and known.epoch == epoch and sequence > known.sequence:
            raise ApiError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"producer {producer_id} sent sequence {sequence}, and {known.sequence} before "
                "that is not written yet",
            )

    def forget(self, producer_id: int) -> None:
        if self._awaited:
            self._awaited.pop(producer_id, None)

    def expire(self, limit_ms: int) -> None:
        self._awaited = {key: one for key, one in self._awaited.items() if one.asked_ms > limit_ms}

    def clear(self) -> None:
        self._awaited.clear()
