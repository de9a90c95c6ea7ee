"""Stretches of offsets in one state, as they are kept: newer ones lie over older ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


class StateBatch(NamedTuple):
    first: int
    last: int
    """Inclusive, as in the log."""
    state: int
    deliveries: int


def overlaid(
    older: Sequence[StateBatch], newer: Sequence[StateBatch], start_offset: int
) -> tuple[StateBatch, ...]:
    """Both in the order of their offsets, each without overlaps of its own. What lies before the
    start is left out, and neighbours in the same state become one."""
    kept = [*_uncovered(older, newer), *newer]
    kept.sort()
    return tuple(_joined(kept, start_offset))


def _uncovered(older: Iterable[StateBatch], newer: Sequence[StateBatch]) -> Iterator[StateBatch]:
    for batch in older:
        first = batch.first
        for over in newer:
            if over.last < first or over.first > batch.last:
                continue
            if over.first > first:
                yield batch._replace(first=first, last=over.first - 1)
            first = over.last + 1
        if first <= batch.last:
            yield batch._replace(first=first)


def _joined(batches: Iterable[StateBatch], start_offset: int) -> Iterator[StateBatch]:
    held: StateBatch | None = None
    for batch in batches:
        if batch.last < start_offset:
            continue
        if batch.first < start_offset:
            batch = batch._replace(first=start_offset)
        if held is not None and held.last + 1 == batch.first and held[2:] == batch[2:]:
            held = held._replace(last=batch.last)
            continue
        if held is not None:
            yield held
        held = batch
    if held is not None:
        yield held
