"""The records of batches as columns of numbers, for readers that want millions of them.

Plain Python that `setup.py` compiles where there is a C compiler (types are in `column.pxd`);
without one it runs as it is, a hundred times slower. Keys and values are not copied: a column has
for each record sixteen bytes that say where it is, in Arrow's layout of views (its length; then its
bytes if they are twelve or fewer, else the first four, the number of the buffer and the position
there).

It sees decompressed bodies whose checksum was right. What does not hold together raises ValueError.
"""

from __future__ import annotations

_VIEW_WORDS = 4
_INLINE_BYTES_MAX = 12
_UINT64_MAX = 0xFFFFFFFFFFFFFFFF
_TIME_MS_MAX = 9_000_000_000_000_000
"""Microseconds of a later time do not fit into 64 bits."""

COMPILED = not __file__.endswith(".py")


class ColumnReader:
    """`count` is how many records it has so far; the buffers have room for `capacity` of them.

    `offsets` and `times` are arrays of 64-bit numbers, the latter in microseconds. `keys` and
    `values` are views, and their `_bits` say which are there at all.
    """

    def __init__(
        self,
        capacity: int,
        offsets: memoryview,
        times: memoryview,
        keys: memoryview,
        key_bits: memoryview,
        values: memoryview,
        value_bits: memoryview,
    ) -> None:
        self.capacity = capacity
        self.count = 0
        self._offsets = offsets
        self._times = times
        self._keys = keys
        self._key_bits = key_bits
        self._values = values
        self._value_bits = value_bits
        self._pos = 0

    def read(
        self,
        data: bytes | bytearray | memoryview,
        records: int,
        base_offset: int,
        base_time: int,
        append_time: int,
        first: int,
        last: int,
        buffer: int,
    ) -> None:
        """Take the records of one body with offsets in [first, last). `append_time` is that of the
        whole batch, or -1; `buffer` is the number that views call the body by."""
        end = len(data)
        self._pos = 0
        for _ in range(records):
            length = self._number(data, end)
            record_end = self._pos + length
            if length < 0 or record_end > end:
                raise ValueError("a record is longer than its batch")
            self._pos += 1
            time = base_time + self._number(data, record_end)
            offset = base_offset + self._number(data, record_end)
            if offset < first or offset >= last:
                self._pos = record_end
                continue
            if self.count >= self.capacity:
                raise ValueError("more records than were declared")
            if append_time >= 0:
                time = append_time
            if time > _TIME_MS_MAX or time < -_TIME_MS_MAX:
                time = _TIME_MS_MAX
            self._offsets[self.count] = offset
            self._times[self.count] = time * 1000
            self._view(data, record_end, self._keys, self._key_bits, buffer)
            self._view(data, record_end, self._values, self._value_bits, buffer)
            self.count += 1
            self._pos = record_end

    def _number(self, data: bytes | bytearray | memoryview, end: int) -> int:
        raw = 0
        shift = 0
        while self._pos < end and shift < 64:
            byte = data[self._pos]
            self._pos += 1
            raw |= (byte & 0x7F) << shift
            if byte < 0x80:
                raw &= _UINT64_MAX
                return (raw >> 1) ^ -(raw & 1)
            shift += 7
        raise ValueError("a record ends in the middle of a number")

    def _view(
        self,
        data: bytes | bytearray | memoryview,
        end: int,
        views: memoryview,
        bits: memoryview,
        buffer: int,
    ) -> None:
        size = self._number(data, end)
        if size < 0:
            return
        if size > end - self._pos:
            raise ValueError("a field is longer than its record")
        index = self.count
        bits[index >> 3] |= 1 << (index & 7)
        start = index * _VIEW_WORDS
        views[start] = size
        if size <= _INLINE_BYTES_MAX:
            for at in range(size):
                views[start + 1 + (at >> 2)] |= data[self._pos + at] << (8 * (at & 3))
        else:
            word = data[self._pos] | data[self._pos + 1] << 8
            views[start + 1] = word | data[self._pos + 2] << 16 | data[self._pos + 3] << 24
            views[start + 2] = buffer
            views[start + 3] = self._pos
        self._pos += size
