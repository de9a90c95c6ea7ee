"""What a load of a coordinator could not read and went past, counted for one log line."""

from __future__ import annotations

from penstock.model.error import ProtocolError


class Tally:
    """How many there were, and the first of them."""

    __slots__ = ("count", "first_offset", "reason")

    def __init__(self) -> None:
        self.count = 0
        self.first_offset = -1
        self.reason = ""

    def add(self, offset: int, reason: str) -> None:
        if not self.count:
            self.first_offset, self.reason = offset, reason
        self.count += 1


class PassedOver:
    """`records` could not be read or make no sense, `unknown` are of types that are not served,
    `batches` are damaged or do not decode. `keys` are those of the records."""

    __slots__ = ("batches", "keys", "records", "unknown")

    def __init__(self) -> None:
        self.records = Tally()
        self.unknown = Tally()
        self.batches = Tally()
        self.keys: set[bytes] = set()

    def record(self, offset: int, key: bytes, why: ProtocolError | None) -> None:
        if why is None:
            self.unknown.add(offset, f"type {int.from_bytes(key[:2], 'big')}")
        else:
            self.records.add(offset, str(why))
            self.keys.add(key)

    def replayed(self, offset: int, error: Exception) -> None:
        """One that was read, and that the machine had no place for."""
        self.records.add(offset, str(error) or type(error).__name__)

    def damage(self, offset: int, size: int) -> None:
        self.batches.add(offset, f"{size} damaged bytes")

    def batch(self, offset: int, error: Exception) -> None:
        self.batches.add(offset, str(error))
