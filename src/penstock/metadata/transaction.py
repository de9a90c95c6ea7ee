"""Metadata transactions: records between a begin and an end count together, or not at all.

Owns what is held back in between. Kafka writes these where one operation fills several batches.
"""

from __future__ import annotations

from penstock.metadata.record import MetadataRecord, RecordKind
from penstock.model.error import InvariantError


class TransactionBuffer:
    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: list[tuple[MetadataRecord, int]] | None = None

    @property
    def is_open(self) -> bool:
        return self._held is not None

    def replace(self, other: TransactionBuffer) -> None:
        self._held = None if other._held is None else list(other._held)

    def begin(self) -> None:
        if self._held is not None:
            raise InvariantError("metadata log begins a transaction inside another")
        self._held = []

    def hold(self, record: MetadataRecord, offset: int) -> bool:
        """True if the record has to wait for its transaction's end."""
        if self._held is None or record.API_KEY in _BOUNDARIES:
            return False
        self._held.append((record, offset))
        return True

    def finish(self) -> list[tuple[MetadataRecord, int]]:
        """The records held back; the caller applies them or, at an abort, lets them go."""
        if self._held is None:
            raise InvariantError("metadata log ends a transaction that never began")
        held, self._held = self._held, None
        return held


_BOUNDARIES = frozenset(
    (RecordKind.BEGIN_TRANSACTION, RecordKind.END_TRANSACTION, RecordKind.ABORT_TRANSACTION)
)
