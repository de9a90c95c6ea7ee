"""Acknowledgements of one request: taken partition by partition, each for itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from penstock.handlers.share.partitions import SharePartitions
from penstock.handlers.share.session import Place
from penstock.model.error import ApiError, ErrorCode
from penstock.model.id import TopicId
from penstock.share import acknowledgements

RENEWED_FROM = 2
"""The version since which a lock can be renewed (KIP-1222)."""


class AckResult(NamedTuple):
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None


class Acknowledging:
    """What a member said of its records: begun at once and in order, answered when it is kept."""

    __slots__ = ("_may_read", "_member_id", "_shares", "_waiting")

    def __init__(
        self, shares: SharePartitions, member_id: str, may_read: Callable[[TopicId], bool]
    ) -> None:
        self._shares = shares
        self._member_id = member_id
        self._may_read = may_read
        self._waiting: dict[Place, asyncio.Future[None] | AckResult] = {}

    @property
    def places(self) -> Iterable[Place]:
        return self._waiting

    def begin(self, group_id: str, topics: Iterable[Any], *, may_renew: bool) -> None:
        for topic in topics:
            for one in topic.partitions:
                if one.acknowledgement_batches:
                    place = topic.topic_id, one.partition_index
                    self._waiting[place] = self._begin(
                        group_id, place, one.acknowledgement_batches, may_renew
                    )

    def _begin(
        self, group_id: str, place: Place, batches: Iterable[Any], may_renew: bool
    ) -> asyncio.Future[None] | AckResult:
        try:
            told = acknowledgements(batches, may_renew=may_renew)
            if not self._may_read(place[0]):
                return AckResult(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            self._shares.check_led(*place)
            share = self._shares.loaded(group_id, *place)
            if share is None:
                # The member had these records of a leader before this one.
                return AckResult(ErrorCode.INVALID_RECORD_STATE)
            kept = share.acknowledge(self._member_id, told, self._shares.now_ms())
            self._shares.note_locks(share)
        except ApiError as error:
            return AckResult(error.code, error.message)
        return AckResult() if kept is None else kept

    async def results(self) -> Mapping[Place, AckResult]:
        found: dict[Place, AckResult] = {}
        for place, waiting in self._waiting.items():
            found[place] = waiting if isinstance(waiting, AckResult) else await _settled(waiting)
        return found


async def _settled(kept: asyncio.Future[None]) -> AckResult:
    try:
        await asyncio.shield(kept)
    except ApiError as error:
        return AckResult(error.code, error.message)
    return AckResult()
