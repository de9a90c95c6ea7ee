"""A topic as a table that DuckDB can scan: filters on partition, offset and time become ranges.

DuckDB takes it for a dataset of Arrow's, and asks it for a scanner of some columns under a filter.
It trusts that the filter was applied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from penstock.cli.failure import Failure
from penstock.cli.leader_call import (
    EARLIEST,
    LATEST,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    Leaders,
    Place,
    leaders_of,
    list_offsets,
    read_metadata,
)
from penstock.cli.operator.link import Link
from penstock.cli.query.batch import Wanted
from penstock.cli.query.bound import SCHEMA, ScanFilter
from penstock.cli.query.scan import THREADS, RangeScan

_RANGE_RECORDS_MIN: Final = 100_000
_ALWAYS: Final = frozenset(("partition", "offset", "timestamp"))
_US: Final = 1000


class TopicTable(ds.Dataset):  # type: ignore[misc]
    def __init__(self, link: Link, topic: str, late_ms: int) -> None:
        self._link = link
        self._topic = topic
        self._late_ms = late_ms
        self._scans: list[RangeScan] = []
        self.error: BaseException | None = None
        self.records_read = 0

    @property
    def schema(self) -> pa.Schema:
        return SCHEMA

    def scanner(
        self,
        columns: Sequence[str] | None = None,
        filter: pc.Expression | None = None,
        **_: Any,
    ) -> TopicScanner:
        names = list(columns) if columns else list(SCHEMA.names)
        return TopicScanner(names, lambda: self._batches(names, ScanFilter(filter)))

    def _batches(self, names: list[str], asked: ScanFilter) -> Iterator[pa.RecordBatch]:
        try:
            leaders = leaders_of(read_metadata(self._link, [self._topic]))
            needed = {name for name in SCHEMA.names if name in names or asked.mentions(name)}
            ranges = plan_ranges(
                self._link, leaders, self._topic, asked, self._late_ms, frozenset(needed)
            )
            scan = RangeScan(self._link, leaders, ranges)
            self._scans.append(scan)
            for batch in scan:
                self.records_read += batch.num_rows
                yield from _passing(batch, asked, names)
        except BaseException as error:
            # DuckDB would say it in words of its own.
            if not isinstance(error, GeneratorExit):
                self.error = error
            raise

    def close(self) -> None:
        for scan in self._scans:
            scan.close()


class TopicScanner:
    def __init__(self, names: list[str], batches: Callable[[], Iterator[pa.RecordBatch]]) -> None:
        self._schema = pa.schema([SCHEMA.field(name) for name in names])
        self._batches = batches

    @property
    def projected_schema(self) -> pa.Schema:
        return self._schema

    def to_reader(self) -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(self._schema, self._batches())


def _passing(
    batch: pa.RecordBatch, asked: ScanFilter, names: list[str]
) -> Iterator[pa.RecordBatch]:
    if asked.expression is not None and not asked.always_holds(_known(batch)):
        # A name of a column that the batch lacks stands in a text only.
        table = pa.Table.from_batches([batch]).filter(asked.expression)
        yield from table.select(names).to_batches()
    else:
        yield batch.select(names)


def _known(batch: pa.RecordBatch) -> pc.Expression:
    """Bounds of what the batch holds."""
    known = pc.field("partition") == batch["partition"][0]
    for name in ("offset", "timestamp"):
        ends = pc.min_max(batch[name])
        known &= (pc.field(name) >= ends["min"]) & (pc.field(name) <= ends["max"])
    return known


def plan_ranges(
    link: Link,
    leaders: Leaders,
    topic: str,
    asked: ScanFilter,
    late_ms: int,
    columns: frozenset[str],
) -> list[Wanted]:
    """Ranges that together hold whatever can pass, as many as keep the threads busy."""
    places = [each for each in leaders.places(topic) if asked.has_partition(each[1])]
    for place in sorted(leaders.without):
        if asked.has_partition(place[1]):
            raise Failure(
                f"{topic}-{place[1]} has no leader, so its records cannot be read now; "
                "`penstock doctor` says why"
            )

    def offsets(timestamp: int, isolation: int = READ_UNCOMMITTED) -> dict[Place, int]:
        """Of all: what one leader does not say is missing in no answer."""
        found = list_offsets(link, leaders, places, timestamp, isolation)
        for place in places:
            if place not in found:
                raise Failure(f"{topic}-{place[1]} does not answer; try again")
        return found

    starts = offsets(EARLIEST)
    ends = offsets(LATEST, READ_COMMITTED)
    low_us, high_us = asked.times_us()
    if low_us is not None:
        starts = _moved(starts, offsets(low_us // _US), ends)
    if high_us is not None:
        late = offsets(-(-high_us // _US) + late_ms)
        ends = {each: late[each] if late[each] >= 0 else ends[each] for each in places}
    spans = {
        each: asked.offsets(each[1], starts[each], max(ends[each], starts[each])) for each in places
    }
    return [
        Wanted(topic, place[1], first, last, columns, low_us)
        for place, first, last in _split(spans)
    ]


def _moved(
    starts: dict[Place, int], found: dict[Place, int], ends: dict[Place, int]
) -> dict[Place, int]:
    """-1 is said where every record is older."""
    return {
        place: max(start, found[place]) if found[place] >= 0 else ends[place]
        for place, start in starts.items()
    }


def _split(spans: dict[Place, tuple[int, int]]) -> Iterator[tuple[Place, int, int]]:
    total = sum(max(last - first, 0) for first, last in spans.values())
    size = max(_RANGE_RECORDS_MIN, total // (THREADS * 4) + 1)
    for place, (first, last) in sorted(spans.items()):
        for start in range(first, last, size):
            yield place, start, min(start + size, last)
