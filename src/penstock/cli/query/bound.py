"""What a filter leaves of a topic: bounds of partitions, offsets and times. Pure.

DuckDB hands down the filter of a scan as an expression of Arrow's, constants folded. Arrow can tell
whether such an expression can hold at all for rows of which something is known. So a bound is
searched for: the first number from which on nothing can pass, or below which something can. What
Arrow does not understand it takes for possible, and the bound is wider than it could be, never
narrower than it may.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyarrow import fs

TIME: Final = pa.timestamp("us", tz="UTC")
SCHEMA: Final = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", TIME),
        ("key", pa.string()),
        ("value", pa.string()),
        ("headers", pa.string()),
        ("key_bytes", pa.binary()),
        ("value_bytes", pa.binary()),
    ]
)
_FORMAT: Final = ds.ParquetFileFormat()
_DISK: Final = fs.LocalFileSystem()
_TIME_US_MAX: Final = 9_000_000_000_000_000_000


class Bounds(NamedTuple):
    """Half-open; None where there is none."""

    low: int | None
    high: int | None


class ScanFilter:
    def __init__(self, expression: pc.Expression | None) -> None:
        self.expression = expression
        self._text = "" if expression is None else str(expression)

    def mentions(self, column: str) -> bool:
        """Perhaps of a text that contains the name: then it is read in vain."""
        return column in self._text

    def may_hold(self, known: pc.Expression) -> bool:
        """Whether a row of which this is known can pass."""
        if self.expression is None:
            return True
        fragment = _FORMAT.make_fragment("-", filesystem=_DISK, partition_expression=known)
        dataset = ds.FileSystemDataset([fragment], SCHEMA, _FORMAT, _DISK)
        return bool(list(dataset.get_fragments(filter=self.expression)))

    def always_holds(self, known: pc.Expression) -> bool:
        return self.expression is None or not ScanFilter(~self.expression).may_hold(known)

    def has_partition(self, partition: int) -> bool:
        return self.may_hold(pc.field("partition") == pa.scalar(partition, pa.int32()))

    def offsets(self, partition: int, start: int, end: int) -> tuple[int, int]:
        """The part of [start, end) that can pass."""
        if not self.mentions("offset"):
            return start, end
        here = pc.field("partition") == pa.scalar(partition, pa.int32())
        offset = pc.field("offset")
        low = _first(start + 1, end + 1, lambda at: self.may_hold(here & (offset < at))) - 1
        high = _first(low, end, lambda at: not self.may_hold(here & (offset >= at)))
        return low, high

    def times_us(self) -> Bounds:
        if not self.mentions("timestamp"):
            return Bounds(None, None)
        field = pc.field("timestamp")

        def before(at: int) -> bool:
            return self.may_hold(field < pa.scalar(at, TIME))

        def none_from(at: int) -> bool:
            return not self.may_hold(field >= pa.scalar(at, TIME))

        low = _first(1, _TIME_US_MAX, before) - 1
        high = _first(0, _TIME_US_MAX, none_from)
        return Bounds(low or None, None if high == _TIME_US_MAX else high)


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The first number from `low` on that this holds of, as of all behind it; or `high`."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
