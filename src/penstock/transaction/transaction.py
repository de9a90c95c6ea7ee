"""What a coordinator knows of one transactional id, and how each event changes it.

Owns the arithmetic of producer ids and epochs. Whether an event may happen is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from penstock.model.error import ApiError, ErrorCode
from penstock.model.id import TopicPartition
from penstock.transaction.config import EPOCH_BUMP_SINCE
from penstock.transaction.state import (
    COMPLETE,
    COMPLETING,
    TransactionEvent,
    TransactionState,
    next_state,
)

NO_PRODUCER_ID = -1
NO_EPOCH = -1
EPOCH_MAX = 2**15 - 1
"""Kept for fencing: no producer is ever given it, so there is always one epoch left to fence it."""
NO_TIMEOUT_MS = 2**31 - 1
"""A two-phase commit's transaction (KIP-939): others end it. Kafka's log may hold some."""


class Identity(NamedTuple):
    """A producer as it names itself."""

    producer_id: int
    producer_epoch: int


def is_exhausted(epoch: int) -> bool:
    return epoch >= EPOCH_MAX - 1


@dataclass(frozen=True, slots=True)
class Transaction:
    transactional_id: str
    producer_id: int
    producer_epoch: int = NO_EPOCH
    previous_producer_id: int = NO_PRODUCER_ID
    """The id before the last change; differs from `producer_id` right after a rotation."""
    next_producer_id: int = NO_PRODUCER_ID
    """The id that follows when this transaction is complete, if the epochs are used up."""
    last_producer_epoch: int = NO_EPOCH
    """The epoch whose owner may ask again for the present one, its answer having been lost. Not
    in the log: after a load such a retry is fenced, which is safe."""
    timeout_ms: int = 0
    state: TransactionState = TransactionState.EMPTY
    partitions: frozenset[TopicPartition] = frozenset()
    start_ms: int = -1
    update_ms: int = -1
    client_version: int = 0
    """The transaction version of the client that changed it last."""

    @property
    def identity(self) -> Identity:
        return Identity(self.producer_id, self.producer_epoch)

    @property
    def is_completing(self) -> bool:
        return self.state in COMPLETING

    @property
    def is_complete(self) -> bool:
        return self.state in COMPLETE

    @property
    def is_exhausted(self) -> bool:
        return is_exhausted(self.producer_epoch)

    @property
    def deadline_ms(self) -> int | None:
        """When an open transaction is aborted."""
        if self.state is not TransactionState.ONGOING or self.timeout_ms == NO_TIMEOUT_MS:
            return None
        return self.start_ms + self.timeout_ms

    def check_producer(self, asked: Identity) -> None:
        if asked.producer_id != self.producer_id:
            raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        if asked.producer_epoch != self.producer_epoch or asked.producer_epoch == EPOCH_MAX:
            raise ApiError(ErrorCode.PRODUCER_FENCED)

    def moved(self, event: TransactionEvent, **changes: Any) -> Transaction:
        changes.setdefault("previous_producer_id", self.producer_id)
        return replace(self, state=next_state(self.state, event), **changes)

    # --- InitProducerId ---

    def initialized(self, epoch: int, last_epoch: int, timeout_ms: int, now_ms: int) -> Transaction:
        return self.moved(
            TransactionEvent.INITIALIZED,
            producer_epoch=epoch,
            last_producer_epoch=last_epoch,
            timeout_ms=timeout_ms,
            partitions=frozenset(),
            start_ms=-1,
            update_ms=now_ms,
        )

    def rotated(
        self, producer_id: int, last_epoch: int, timeout_ms: int, now_ms: int
    ) -> Transaction:
        fresh = self.initialized(0, last_epoch, timeout_ms, now_ms)
        return replace(fresh, producer_id=producer_id)

    # --- a transaction ---

    def with_partitions(
        self, added: Iterable[TopicPartition], version: int, now_ms: int
    ) -> Transaction:
        ongoing = self.state is TransactionState.ONGOING
        return self.moved(
            TransactionEvent.PARTITIONS_ADDED,
            partitions=self.partitions.union(added),
            start_ms=self.start_ms if ongoing else now_ms,
            update_ms=now_ms,
            client_version=version,
        )

    def ended(
        self, committed: bool, version: int, next_producer_id: int, now_ms: int
    ) -> Transaction:
        event = TransactionEvent.COMMITTED if committed else TransactionEvent.ABORTED
        return self._prepared(event, version, next_producer_id, now_ms)

    def fenced(self, version: int, next_producer_id: int, now_ms: int) -> Transaction:
        """Aborted by the coordinator itself, which shuts out whoever holds the present epoch.

        Version 2 raises the epoch by ending the transaction; before it the fence has to.
        """
        fence = self.moved(TransactionEvent.FENCED)
        if version < EPOCH_BUMP_SINCE:
            epoch = min(self.producer_epoch + 1, EPOCH_MAX)
            fence = replace(fence, producer_epoch=epoch, last_producer_epoch=NO_EPOCH)
        return fence._prepared(TransactionEvent.FENCE_ABORTED, version, next_producer_id, now_ms)

    def _prepared(
        self, event: TransactionEvent, version: int, next_producer_id: int, now_ms: int
    ) -> Transaction:
        changes: dict[str, Any] = {"client_version": 0}
        if version >= EPOCH_BUMP_SINCE:
            changes = {
                "client_version": version,
                "producer_epoch": min(self.producer_epoch + 1, EPOCH_MAX),
                "last_producer_epoch": self.producer_epoch,
            }
        if self.state is TransactionState.EMPTY or self.is_complete:
            # An abort without a transaction has to start some time, too.
            changes["start_ms"] = now_ms
        return self.moved(event, next_producer_id=next_producer_id, update_ms=now_ms, **changes)

    def completed(self, now_ms: int) -> Transaction:
        """The markers took the last epoch of an exhausted id; its producer goes on with the next
        id, and may still ask again under the epoch it had."""
        changes: dict[str, Any] = {}
        if self.client_version >= EPOCH_BUMP_SINCE and self.next_producer_id != NO_PRODUCER_ID:
            changes = {"producer_id": self.next_producer_id, "producer_epoch": 0}
        return self.moved(
            TransactionEvent.MARKERS_WRITTEN,
            next_producer_id=NO_PRODUCER_ID,
            partitions=frozenset(),
            update_ms=now_ms,
            **changes,
        )

    def expired(self) -> Transaction:
        return self.moved(TransactionEvent.EXPIRED)
