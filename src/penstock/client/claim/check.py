"""A claim check: large values go to a store, each comes back by its reference."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeGuard

from penstock.client.claim.reference import (
    CLAIM_HEADER,
    Reference,
    day_of,
    decode_reference,
    reference_to,
)
from penstock.client.claim.store import GoneError, open_store
from penstock.client.duration import milliseconds
from penstock.client.error import PoisonError

Pairs = list[tuple[str, bytes | None]]


class ClaimCheck:
    """`ClaimCheck("s3://bucket/claims", above=500_000)`; all its calls block."""

    def __init__(
        self, store: str, *, above: int = 500_000, settings: Mapping[str, Any] | None = None
    ) -> None:
        """Values of more than `above` bytes; `settings` are those of the object store."""
        self.url = store.rstrip("/")
        self.above = above
        self._store = open_store(self.url, settings or {})

    def wants(self, value: bytes | None) -> TypeGuard[bytes]:
        return value is not None and len(value) > self.above

    def check_in(self, topic: str, value: bytes) -> tuple[bytes, Pairs]:
        """What to send in its place: a reference, and the header that says so."""
        made = reference_to(value, self.url, topic, _today())
        self._store.put(made.name, value)
        return made.encode(), [(CLAIM_HEADER, b"1")]

    def check_out(self, value: bytes | None) -> bytes:
        """Raises PoisonError where no attempt will do, TransientError where the store is away."""
        try:
            found = decode_reference(value, self.url)
        except ValueError as error:
            raise PoisonError(f"the record {error}") from error
        content = self._get(found)
        if not found.fits(content):
            raise PoisonError(f"{self.url}/{found.name} is not what was stored: its checksum")
        return content

    def _get(self, found: Reference) -> bytes:
        try:
            return self._store.get(found.name)
        except GoneError:
            raise PoisonError(
                f"{self.url}/{found.name} is gone: was it removed before its record?"
            ) from None

    def sweep(self, older_than: str) -> int:
        """Remove what was stored before; how many. `older_than` is longer than any record that
        refers to it is kept, dead letters included."""
        age = timedelta(milliseconds=milliseconds(older_than))
        last = (datetime.now(UTC) - age).date().isoformat()
        old = [name for name in self._store.names() if (day := day_of(name)) and day < last]
        for name in old:
            self._store.delete(name)
        return len(old)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
