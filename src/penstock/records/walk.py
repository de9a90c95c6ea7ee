"""A walk over the encoded records of one batch: are they what a reader can read?

Plain Python that `setup.py` compiles where there is a C compiler (types are in `walk.pxd`); without
one it runs as it is, about a hundred times slower. Both have to come to the same verdict, so no
number here may grow beyond 64 bits: in C it would wrap.

It sees decompressed bytes, in pieces that may end anywhere, and keeps nothing of them. What it
cannot know is whether more pieces come.
"""

from __future__ import annotations

_LENGTH = 0
_TIMESTAMP = 1
_OFFSET = 2
_KEY = 3
_VALUE = 4
_HEADERS = 5
_HEADER_KEY = 6
_HEADER_VALUE = 7

_FIELDS_BYTES_MIN = 6
"""Attributes, two deltas, two lengths and the number of headers, a byte each."""

REJECTED_MAX = 1000
"""So many records are named in a refusal: a batch of millions may be wrong in each of them."""

_INT64_MAX = 0x7FFFFFFFFFFFFFFF
_UINT32_MAX = 0xFFFFFFFF
_UINT64_MAX = 0xFFFFFFFFFFFFFFFF

_FAULT_LENGTH = 1
_FAULT_NUMBER = 2
_FAULT_OFFSET = 3
_FAULT_FIELD = 4
_FAULT_HEADERS = 5
_FAULT_END = 6

FAULTS = (
    "",
    "a record is shorter than its own fields",
    "a variable-length number is too long",
    "offset deltas do not count up from 0",
    "a field is longer than its record",
    "a record declares headers that it does not hold",
    "a record is longer than its fields",
)

COMPILED = not __file__.endswith(".py")


class Walk:
    """Where the walk stands, and what it has seen so far.

    `newest` is the latest timestamp; `rejected` are the records without a key where `keyed` asks
    for keys, and those whose time lies outside of `earliest` and `latest` where `timed` says so.
    `fields` is the work so far.
    """

    def __init__(
        self,
        count: int,
        base_timestamp: int,
        keyed: bool,
        timed: bool,
        earliest: int,
        latest: int,
    ) -> None:
        self.count = count
        self.base = base_timestamp
        self.keyed = keyed
        self.timed = timed
        self.earliest = earliest
        self.latest = latest
        self.index = 0
        self.fields = 0
        self.newest = -1
        self.fault = 0
        self.rejected: list[int] = []
        self.times_rejected = False
        self._stage = _LENGTH
        # Bytes of the record, and of the field in it, that have not been seen.
        self._inside = 0
        self._skip = 0
        self._headers = 0
        self._outside = False

    @property
    def done(self) -> bool:
        """Whether every record has been seen to its end."""
        return self.index == self.count and not self._skip and not self.fault

    def step(self, data: bytes | bytearray | memoryview, pos: int, end: int, fields: int) -> int:
        """Walk on from `pos`, over so many fields at most, and say where that ended.

        Before `end` it stops behind the last record, at a fault, when the fields are used up, and
        in front of a number that is not there as a whole: at most nine bytes, which have to lead
        the next piece.
        """
        limit = self.fields + fields
        while self.fields < limit and not self.fault:
            self.fields += 1
            if self._skip:
                if self._skip > end - pos:
                    self._skip -= end - pos
                    return end
                pos += self._skip
                self._skip = 0
            if pos >= end or (self._stage == _LENGTH and self.index == self.count):
                return pos
            raw = data[pos]
            size = 1
            if raw >= 0x80:
                longest = 10 if self._stage == _TIMESTAMP else 5
                byte = raw
                raw &= 0x7F
                while byte >= 0x80 and size < longest and pos + size < end:
                    byte = data[pos + size]
                    raw |= (byte & 0x7F) << (7 * size)
                    size += 1
                if byte >= 0x80:
                    if size == longest:
                        self.fault = _FAULT_NUMBER
                    return pos
                raw &= _UINT64_MAX if longest == 10 else _UINT32_MAX
            pos += size
            self._inside -= size
            self._take((raw >> 1) ^ -(raw & 1))
        return pos

    def _take(self, value: int) -> None:
        """One more number, and what it says of the record it is in."""
        stage = self._stage
        if stage == _LENGTH:
            if value < _FIELDS_BYTES_MIN:
                self.fault = _FAULT_LENGTH
            self._inside = value - 1
            self._skip = 1
            self._stage = _TIMESTAMP
        elif self._inside < 0:
            self.fault = _FAULT_LENGTH
        elif stage == _TIMESTAMP:
            self._note_time(value)
            self._stage = _OFFSET
        elif stage == _OFFSET:
            if value != self.index:
                self.fault = _FAULT_OFFSET
            self._stage = _KEY
        elif stage == _HEADERS:
            if value < 0 or value > self._inside:
                self.fault = _FAULT_HEADERS
            self._headers = value
            self._go_on_or_end()
        else:
            self._take_length(stage, value)

    def _take_length(self, stage: int, value: int) -> None:
        """Of a key, a value, or the like in a header: its bytes are skipped."""
        if value > self._inside:
            self.fault = _FAULT_FIELD
        elif value >= 0:
            self._skip = value
            self._inside -= value
        if stage == _KEY:
            if value < 0 or self._outside:
                self._note_key(value)
            self._stage = _VALUE
        elif stage == _VALUE:
            self._stage = _HEADERS
        elif stage == _HEADER_KEY:
            if value < 0:
                self.fault = _FAULT_HEADERS
            self._stage = _HEADER_VALUE
        else:
            self._headers -= 1
            self._go_on_or_end()

    def _go_on_or_end(self) -> None:
        """To the next header, or to the next record."""
        if self._headers:
            self._stage = _HEADER_KEY
            return
        if self._inside:
            self.fault = _FAULT_END
        self._stage = _LENGTH
        self.index += 1

    def _note_time(self, delta: int) -> None:
        """A sum that does not fit into 64 bits lies outside of every range."""
        if delta >= 0:
            fits = self.base <= _INT64_MAX - delta
        else:
            fits = self.base >= -_INT64_MAX - 1 - delta
        if not fits:
            self._outside = self.timed
            return
        timestamp = self.base + delta
        if self.timed and timestamp != -1:
            self._outside = timestamp < self.earliest or timestamp > self.latest
        if timestamp > self.newest:
            self.newest = timestamp

    def _note_key(self, length: int) -> None:
        """A record counts once, and a missing key before a wrong time, as in Kafka."""
        if length < 0 and self.keyed:
            rejected = True
        else:
            rejected = self._outside
            if self._outside:
                self.times_rejected = True
        self._outside = False
        if rejected and len(self.rejected) < REJECTED_MAX:
            self.rejected.append(self.index)
