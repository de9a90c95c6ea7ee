"""What a leader demands of a batch before it goes into the log.

`AppendCheck` is a topic's settings, turned once into what an append has to compare; `BatchCheck` is
one batch on its way through them, in steps of bounded work. The header and the checksum are always
looked at, the records where a setting says so or needs it. Knows nothing of producers' sequences
(see `producer_state`) and writes nothing to disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Final

from penstock.model.error import ApiError, ErrorCode
from penstock.records.builder import recompress
from penstock.records.checksum import crc32c
from penstock.records.compression import CODEC_NAMES
from penstock.records.decompression import begins_as
from penstock.records.header import (
    APPEND_TIME_BIT,
    ATTRIBUTES,
    BATCH_OVERHEAD,
    CODEC_MASK,
    CONTROL_BIT,
    HEADER,
    LOG_OVERHEAD,
    MAGIC_V2,
    RATIO_MAX,
    RECORD_BYTES_MIN,
    BatchHeader,
    InvalidRecord,
    WritableBuffer,
    assign_create_time,
    batch_size,
    check_batch,
    check_produced,
    parse_header,
)
from penstock.records.record_check import RecordCheck
from penstock.records.walk import COMPILED, Walk
from penstock.storage.config import LogConfig

LONG_MAX: Final = 0x7FFFFFFFFFFFFFFF

LOOP_COST_MAX: Final = 500_000
"""Of one batch's check on the event loop, in fields of records that are walked over: a millisecond
or two. Beyond that a thread does it."""

_RECOMPRESS_COST: Final = 5
"""Of a byte, where a topic has a codec of its own."""
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


class TooMuchToCheckError(Exception):
    """Checking this batch here would hold up everybody else: `BatchCheck` can be run elsewhere."""


class AppendCheck:
    __slots__ = (
        "_unusual",
        "after_max_ms",
        "append_time",
        "before_max_ms",
        "codec",
        "compacted",
        "level",
        "max_batch_bytes",
        "plain",
        "reads_compressed",
        "reads_plain",
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
        # Whether the records of a client's batch are looked at.
        self.reads_compressed = (
            config.penstock_record_check == "always"
            or self.compacted
            or self.codec is not None
            or self.before_max_ms != LONG_MAX
        )
        is_quick = config.penstock_record_check == "quick" and COMPILED
        self.reads_plain = self.reads_compressed or is_quick
        # Nothing that would change the batch, or read records in interpreted code.
        changes = self.append_time or self.codec is not None
        self.plain = not changes and (COMPILED or not self.reads_plain)
        self._unusual = _UNUSUAL | (CODEC_MASK if self.reads_compressed else 0)

    def quick(self, records: WritableBuffer, now_ms: int) -> BatchHeader | None:
        """The header of a client's ordinary, faultless batch; None where `BatchCheck` has to say.

        The same rules in the fewest steps: nearly every append passes here.
        """
        if not self.plain or len(records) < BATCH_OVERHEAD:
            return None
        header: BatchHeader = _as_header(BatchHeader, _unpack_header(records))
        (
            base_offset,
            length,
            _,
            magic,
            crc,
            attributes,
            last_delta,
            base_timestamp,
            newest,
            producer,
            epoch,
            sequence,
            count,
        ) = header
        size = length + LOG_OVERHEAD
        if (
            size != len(records)
            or size > self.max_batch_bytes
            or size > self.segment_bytes
            or magic != MAGIC_V2
            or base_offset
            or attributes & self._unusual
            or count <= 0
            or last_delta != count - 1
            or (producer >= 0 and (sequence < 0 or epoch < -1))
            or crc32c(memoryview(records)[ATTRIBUTES:]) != crc
        ):
            return None
        codec = attributes & CODEC_MASK
        if codec or not self.reads_plain:
            holds = codec < len(RATIO_MAX) and (
                count * RECORD_BYTES_MIN <= (size - BATCH_OVERHEAD) * RATIO_MAX[codec]
                and begins_as(codec, memoryview(records)[BATCH_OVERHEAD:])
            )
            return header if holds and newest - now_ms <= self.after_max_ms else None
        walk = Walk(count, base_timestamp, self.compacted, True, *self.times(now_ms))
        position = walk.step(records, BATCH_OVERHEAD, size, LOOP_COST_MAX)
        if position != size or not walk.done or walk.rejected or walk.newest != newest:
            return None
        return header

    def trusted(self, records: WritableBuffer) -> BatchHeader | None:
        """The header of a batch that a coordinator of this process has just made: its checksum is
        not computed a second time. None wherever `BatchCheck` has to say."""
        header: BatchHeader = _as_header(BatchHeader, _unpack_header(records))
        size = header.batch_length + LOG_OVERHEAD
        as_is = self.codec is None or header.attributes & CODEC_MASK == self.codec
        if self.append_time or not as_is or size != len(records) or size > self.segment_bytes:
            return None
        return header

    def begin(
        self, records: WritableBuffer, now_ms: int, origin: Origin = Origin.CLIENT
    ) -> BatchCheck:
        return BatchCheck(self, records, now_ms, origin)

    def check_here(
        self, records: WritableBuffer, now_ms: int, origin: Origin, checked: BatchCheck | None
    ) -> BatchCheck:
        """A check that has reached its end: the one given, or another if that is quickly done."""
        if checked is None:
            checked = self.begin(records, now_ms, origin)
            if not checked.advance(LOOP_COST_MAX):
                raise TooMuchToCheckError
        elif checked.rules is not self:
            # The topic's settings have changed since.
            raise TooMuchToCheckError
        return checked

    def times(self, now_ms: int) -> tuple[int, int]:
        """The earliest and the latest time that a record may have."""
        return now_ms - self.before_max_ms, min(now_ms + self.after_max_ms, LONG_MAX)


class BatchCheck:
    """`records` and `header` are the batch to write, perhaps under another codec, once `advance`
    has said so. Any thread may advance it, as long as the bytes stay what they are."""

    __slots__ = ("_now_ms", "_origin", "_steps", "header", "records", "rules")

    def __init__(
        self, rules: AppendCheck, records: WritableBuffer, now_ms: int, origin: Origin
    ) -> None:
        self.rules = rules
        self.records = records
        self._now_ms = now_ms
        self._origin = origin
        self._steps = self._run()

    def advance(self, cost_max: int) -> bool:
        """Check on for about that much work; whether the batch may be written. ApiError for one
        that may not."""
        for cost in self._steps:
            cost_max -= cost
            if cost_max < 0:
                return False
        return True

    def _run(self) -> Iterator[int]:
        rules, records = self.rules, self.records
        self.header = header = self._check_header()
        if header.attributes & CONTROL_BIT:
            return
        yield 0
        size = header.size
        if self._origin is not Origin.COORDINATOR and self._looks_inside():
            check = self._start_inside()
            yield from check.steps()
            size += check.body_bytes
            self._judge(check)
        if rules.codec is not None and header.attributes & CODEC_MASK != rules.codec:
            if self._origin is not Origin.COORDINATOR:
                yield size * _RECOMPRESS_COST
            self.records = recompress(records, rules.codec, rules.level)
            self.header = check_batch(self.records, 0, len(self.records))
            self._check_size(self.header.size)
        if self.header.size > rules.segment_bytes:
            raise _larger_than_segment(self.header.size, rules.segment_bytes)

    def _check_header(self) -> BatchHeader:
        records, is_client = self.records, self._origin is Origin.CLIENT
        if is_client and len(records) >= BATCH_OVERHEAD:
            size = batch_size(records)
            # As Kafka has it, which reads no further than to the end of the last whole batch.
            if size > len(records):
                raise InvalidRecord(f"batch of {size} bytes in a request of {len(records)}")
        header = check_batch(records, 0, len(records))
        if header.size != len(records):
            raise InvalidRecord("more than one batch for a partition in one request")
        if is_client:
            self._check_size(header.size)
            check_produced(header)
            codec = header.attributes & CODEC_MASK
            if not begins_as(codec, memoryview(records)[BATCH_OVERHEAD:]):
                raise InvalidRecord(f"batch is not compressed with {CODEC_NAMES[codec]}")
            if self.rules.append_time and header.attributes & APPEND_TIME_BIT:
                raise ApiError(
                    ErrorCode.INVALID_TIMESTAMP, "producers may not set the type log append time"
                )
        return header

    def _looks_inside(self) -> bool:
        """Whether a time is too far ahead, the header alone cannot say."""
        rules, header = self.rules, self.header
        if rules.reads_compressed or (rules.reads_plain and not header.attributes & CODEC_MASK):
            return True
        ahead_ms = header.max_timestamp - self._now_ms
        return not rules.append_time and ahead_ms > rules.after_max_ms

    def _start_inside(self) -> RecordCheck:
        rules = self.rules
        earliest, latest = rules.times(self._now_ms)
        return RecordCheck(
            self.records,
            self.header,
            keyed=rules.compacted,
            timed=not rules.append_time,
            earliest=earliest,
            latest=latest,
        )

    def _judge(self, check: RecordCheck) -> None:
        if check.times_rejected:
            earliest, latest = self.rules.times(self._now_ms)
            raise RejectedRecords(
                ErrorCode.INVALID_TIMESTAMP,
                f"timestamp is not within [{earliest}, {latest}]",
                check.rejected,
            )
        if check.rejected:
            raise RejectedRecords(
                ErrorCode.INVALID_RECORD,
                "a compacted topic takes no record without a key",
                check.rejected,
            )
        header = self.header
        is_append_time = header.attributes & APPEND_TIME_BIT
        if not self.rules.append_time and (is_append_time or check.newest != header.max_timestamp):
            # Look-up by time goes by the header: it is set right, as Kafka does.
            assign_create_time(self.records, 0, check.newest)
            self.header = parse_header(self.records)

    def _check_size(self, size: int) -> None:
        if size > self.rules.max_batch_bytes:
            raise ApiError(
                ErrorCode.MESSAGE_TOO_LARGE,
                f"batch of {size} bytes is larger than max.message.bytes "
                f"({self.rules.max_batch_bytes})",
            )


def _larger_than_segment(size: int, segment_bytes: int) -> ApiError:
    return ApiError(
        ErrorCode.RECORD_LIST_TOO_LARGE,
        f"batch of {size} bytes is larger than segment.bytes ({segment_bytes})",
    )


def _target_codec(compression_type: str) -> int | None:
    """None: whatever the producer chose."""
    if compression_type == "producer":
        return None
    return 0 if compression_type == "uncompressed" else CODEC_NAMES.index(compression_type)
