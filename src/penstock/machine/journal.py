"""The ordered, durable list of records a machine is rebuilt from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

RecordT = TypeVar("RecordT")


class Journal(Protocol[RecordT]):
    """Writing has two steps, so that appends made while a flush is under way share the next one."""

    def append(self, records: Sequence[RecordT]) -> int:
        """Write the records, all or none, and return the offset of the first.

        The others follow it without a gap. They are ordered now but not yet committed. When this
        raises, nothing was written.
        """
        ...

    @property
    def end_offset(self) -> int:
        """The offset the next record will get."""
        ...

    def is_committed(self, end_offset: int) -> bool:
        """Whether `wait_committed` would have nothing to wait for."""
        ...

    async def wait_committed(self, end_offset: int) -> None:
        """Park until every record below `end_offset` is safe; raise if that can never be."""
        ...

    def load(self) -> Iterator[tuple[int, RecordT]]:
        """Every record with its offset, oldest first, as the machine must replay them."""
        ...
