"""What a leader demands of a batch before it goes into the log.

Reads the batch header and the checksum; records themselves only where a topic's settings leave
no other way (compaction needs keys, another codec needs the bytes). Knows nothing of producers'
sequences (see `producer_state`) and writes nothing to disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final

from penstock.model.error import ApiError, ErrorCode
from penstock.records.builder import recompress
from penstock.records.checksum import crc32c
from penstock.records.compression import CODEC_NAMES
from penstock.records.header import (
    APPEND_TIME_BIT,
    ATTRIBUTES,
    BATCH_OVERHEAD,
    CODEC_MASK,
    CONTROL_BIT,
    HEADER,
    LOG_OVERHEAD,
    MAGIC_V2,
    NO_TIMESTAMP,
    BatchHeader,
    InvalidRecord,
    WritableBuffer,
    check_batch,
    check_produced,
)
from penstock.records.record import iter_keys, read_body
from penstock.storage.config import LogConfig

LONG_MAX: Final = 0x7FFFFFFFFFFFFFFF

_UNUSUAL: Final = APPEND_TIME_BIT | CONTROL_BIT
_unpack_header = HEADER.unpack_from
# A named tuple straight from a tuple: a third of the cost of calling the class.
_as_header = tuple.__new__


class Origin(Enum):
    """Who sent a batch, and so how far it is trusted."""

    CLIENT = "client"
    REPLICA = "replica"
    COORDINATOR = "coordinator"


class RejectedRecords(ApiError):
    """Some records of a batch may not go into this topic, and with them the whole batch."""

    def __init__(self, code: ErrorCode, message: str, indexes: Sequence[int]) -> None:
        super().__init__(code, message)
        self.indexes = indexes


class AppendCheck:
    """A topic's settings, turned once into what an append has to compare."""

    __slots__ = (
        "after_max_ms",
        "append_time",
        "before_max_ms",
        "codec",
        "compacted",
        "level",
        "max_batch_bytes",
        "plain",
        "segment_bytes",
    )

    def __init__(self, config: LogConfig) -> None:
        self.max_batch_bytes = config.max_message_bytes
        self.segment_bytes = config.segment_bytes
        self.append_time = config.message_timestamp_type == "LogAppendTime"
        self.before_max_ms = config.message_timestamp_before_max_ms
        self.after_max_ms = config.message_timestamp_after_max_ms
        self.compacted = "compact" in config.cleanup_policy
        self.codec = _target_codec(config.compression_type)
        level = getattr(config, f"compression_{config.compression_type}_level", None)
        self.level: int | None = level if isinstance(level, int) else None

        # Nothing that would have to look into the batch or change it.
        self.plain = (
            not self.append_time
            and not self.compacted
            and self.codec is None
            and self.before_max_ms == LONG_MAX
        )

    def quick(self, records: WritableBuffer, now_ms: int) -> BatchHeader | None:
        """The header of a client's ordinary, faultless batch; None wherever `check` has to say.

        The same rules in the fewest steps: nearly every append passes here.
        """
        if not self.plain or len(records) < BATCH_OVERHEAD:
            return None
        header: BatchHeader = _as_header(BatchHeader, _unpack_header(records))
        (
            _,
            length,
            _,
            magic,
            crc,
            attributes,
            last_delta,
            _,
            newest,
            producer,
            _,
            sequence,
            count,
        ) = header
        size = length + LOG_OVERHEAD
        if (
            size != len(records)
            or size > self.max_batch_bytes
            or size > self.segment_bytes
            or magic != MAGIC_V2
            or attributes & _UNUSUAL
            or count <= 0
            or last_delta != count - 1
            or newest - now_ms > self.after_max_ms
            or (producer >= 0 and sequence < 0)
            or crc32c(memoryview(records)[ATTRIBUTES:]) != crc
        ):
            return None
        return header

    def trusted(self, records: WritableBuffer) -> BatchHeader | None:
        """The header of a batch that a coordinator of this process has just made: its checksum is
        not computed a second time. None wherever `check` has to say."""
        header: BatchHeader = _as_header(BatchHeader, _unpack_header(records))
        size = header.batch_length + LOG_OVERHEAD
        as_is = self.codec is None or header.attributes & CODEC_MASK == self.codec
        if self.append_time or not as_is or size != len(records) or size > self.segment_bytes:
            return None
        return header

    def check(
        self, records: WritableBuffer, now_ms: int, origin: Origin
    ) -> tuple[WritableBuffer, BatchHeader]:
        """The one batch to write, perhaps under another codec, and its header."""
        header = check_batch(records, 0, len(records))
        size = header.size
        if size != len(records):
            raise InvalidRecord("more than one batch for a partition in one request")
        if size > self.max_batch_bytes and origin is Origin.CLIENT:
            raise self._too_large(size)
        if origin is Origin.CLIENT:
            check_produced(header)
        if header.attributes & CONTROL_BIT:
            return records, header
        if not self.append_time:
            self._check_times(records, header, now_ms)
        # Coordinators write keys only, and one batch for every commit.
        if self.compacted and origin is not Origin.COORDINATOR:
            _check_keys(records, header)
        if self.codec is not None and header.attributes & CODEC_MASK != self.codec:
            return self._recompress(records)
        if size > self.segment_bytes:
            raise _larger_than_segment(size, self.segment_bytes)
        return records, header

    def _check_times(self, records: WritableBuffer, header: BatchHeader, now_ms: int) -> None:
        if header.attributes & APPEND_TIME_BIT:
            raise ApiError(
                ErrorCode.INVALID_TIMESTAMP, "producers may not set the type log append time"
            )
        newest = header.max_timestamp
        if newest - now_ms > self.after_max_ms:
            raise self._bad_times(records, header, now_ms)
        if self.before_max_ms != LONG_MAX:
            oldest = min(header.base_timestamp, newest)
            if oldest != NO_TIMESTAMP and now_ms - oldest > self.before_max_ms:
                raise self._bad_times(records, header, now_ms)

    def _recompress(self, records: WritableBuffer) -> tuple[WritableBuffer, BatchHeader]:
        assert self.codec is not None
        rebuilt = recompress(records, self.codec, self.level)
        header = check_batch(rebuilt, 0, len(rebuilt))
        if header.size > self.max_batch_bytes:
            raise self._too_large(header.size)
        if header.size > self.segment_bytes:
            raise _larger_than_segment(header.size, self.segment_bytes)
        return rebuilt, header

    def _too_large(self, size: int) -> ApiError:
        return ApiError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"batch of {size} bytes is larger than max.message.bytes ({self.max_batch_bytes})",
        )

    def _bad_times(
        self, records: WritableBuffer, header: BatchHeader, now_ms: int
    ) -> RejectedRecords:
        earliest, latest = now_ms - self.before_max_ms, now_ms + self.after_max_ms
        spans = iter_keys(header, read_body(records, header))
        outside = [
            index
            for index, (_, _, _, timestamp, _, _) in enumerate(spans)
            if timestamp != NO_TIMESTAMP and not earliest <= timestamp <= latest
        ]
        return RejectedRecords(
            ErrorCode.INVALID_TIMESTAMP,
            f"timestamp is not within [{earliest}, {latest}]",
            outside,
        )


def _larger_than_segment(size: int, segment_bytes: int) -> ApiError:
    return ApiError(
        ErrorCode.RECORD_LIST_TOO_LARGE,
        f"batch of {size} bytes is larger than segment.bytes ({segment_bytes})",
    )


def _check_keys(records: WritableBuffer, header: BatchHeader) -> None:
    spans = iter_keys(header, read_body(records, header))
    keyless = [index for index, (_, key, _, _, _, _) in enumerate(spans) if key is None]
    if keyless:
        raise RejectedRecords(
            ErrorCode.INVALID_RECORD, "a compacted topic takes no record without a key", keyless
        )


def _target_codec(compression_type: str) -> int | None:
    """None: whatever the producer chose."""
    if compression_type == "producer":
        return None
    return 0 if compression_type == "uncompressed" else CODEC_NAMES.index(compression_type)
