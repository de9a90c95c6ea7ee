"""The way of committed records from the log to whoever builds an image of them.

Owns how far that has come. Every record is told once, in order, when it is committed and not
before. What this node wrote itself is kept until then, so that nothing is decoded that was just
encoded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from penstock.metadata.record import MetadataRecord
from penstock.metadata.version import METADATA_LEVEL, METADATA_VERSION
from penstock.model.error import InvariantError
from penstock.protocol.messages.records.feature_level_record import FeatureLevelRecord
from penstock.quorum.metadata_batch import read_values
from penstock.quorum.metadata_log import MetadataLog

OffsetAndRecord = tuple[int, MetadataRecord]


class RecordListener(Protocol):
    def on_committed(self, records: Sequence[OffsetAndRecord]) -> None: ...

    def on_snapshot(self, records: Sequence[MetadataRecord], end_offset: int) -> None:
        """Everything up to the offset, in place of whatever was told before."""
        ...


class _Own(NamedTuple):
    base_offset: int
    records: Sequence[MetadataRecord]
    size_bytes: int

    @property
    def end_offset(self) -> int:
        return self.base_offset + len(self.records)


class CommittedRecords:
    def __init__(self, log: MetadataLog, listener: RecordListener) -> None:
        self._log = log
        self._listener = listener
        self._own: deque[_Own] = deque()
        self.next_offset = 0
        """All before it has been told."""
        self.level = METADATA_LEVEL
        """The metadata version that the records told so far have settled on."""
        self.bytes_told = 0
        """Since the last snapshot."""

    def keep(self, base_offset: int, records: Sequence[MetadataRecord], size_bytes: int) -> None:
        """Written here, and told when committed."""
        self._own.append(_Own(base_offset, records, size_bytes))

    def forget_from(self, offset: int) -> None:
        """The log was cut, or this node does not lead any more: what comes is read from the log."""
        while self._own and self._own[-1].end_offset > offset:
            self._own.pop()

    def tell_snapshot(self, records: Sequence[MetadataRecord], end_offset: int) -> None:
        self._own.clear()
        for record in records:
            self._note_level(record)
        self.next_offset = end_offset
        self.bytes_told = 0
        self._listener.on_snapshot(records, end_offset)

    def tell_until(self, end_offset: int) -> None:
        """The end of a batch, always: nobody ever holds half of one."""
        while self.next_offset < end_offset:
            if self._own and self._own[0].base_offset <= self.next_offset:
                self._tell_own(end_offset)
            else:
                bound = self._own[0].base_offset if self._own else end_offset
                self._tell_from_log(min(bound, end_offset))

    def _tell_own(self, end_offset: int) -> None:
        base_offset, records, size_bytes = self._own.popleft()
        count = min(end_offset - base_offset, len(records))
        if count < len(records):
            self._own.appendleft(_Own(base_offset + count, records[count:], 0))
        self.bytes_told += size_bytes
        self._tell(list(enumerate(records[:count], base_offset)))
        self.next_offset = base_offset + count

    def _tell_from_log(self, end_offset: int) -> None:
        for header, batch in self._log.batches(self.next_offset, end_offset):
            told_from = self.next_offset
            values = [one for one in read_values(header, batch) if one[0] >= told_from]
            if values:
                self._tell(values)
            self.bytes_told += header.size
            self.next_offset = header.next_offset
        if self.next_offset < end_offset:
            raise InvariantError(f"metadata is committed up to {end_offset}, inside a batch")

    def _tell(self, records: Sequence[OffsetAndRecord]) -> None:
        for _, record in records:
            self._note_level(record)
        self._listener.on_committed(records)

    def _note_level(self, record: MetadataRecord) -> None:
        if isinstance(record, FeatureLevelRecord) and record.name == METADATA_VERSION:
            self.level = record.feature_level
