"""What the outputs must be, and how what was read differs from it. No Spark, no broker."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from tools.sink_kill.job import WINDOW_S

Row = tuple[str, str]
"""Key and value."""


def copy_differences(sent: Iterable[Row], copied: Sequence[Row]) -> Iterator[str]:
    """`copied` in the order of each partition's log; a key has one partition."""
    yield from differences(Counter(sent), Counter(copied))
    last: dict[str, int] = defaultdict(lambda: -1)
    for key, value in copied:
        if int(value) < last[key]:
            yield f"in another order: {key} {value} after {last[key]}"
        last[key] = max(last[key], int(value))


def count_differences(sent: Iterable[Row], counted: Iterable[Row], end_s: int) -> Iterator[str]:
    """Windows up to `end_s`; those after it never end."""
    per_window = Counter((key, int(value) // WINDOW_S * WINDOW_S) for key, value in sent)
    told = {(key, f"{start}:{count}") for (key, start), count in per_window.items()}
    ended = (Counter(row for row in rows if _start_s(row) < end_s) for rows in (told, counted))
    yield from differences(*ended)


def _start_s(row: Row) -> int:
    return int(row[1].partition(":")[0])


def differences(wanted: Counter[Row], found: Counter[Row]) -> Iterator[str]:
    for row in wanted - found:
        yield f"missing: {row}"
    for row, extra in (found - wanted).items():
        yield f"{extra + wanted[row]} times: {row}" if row in wanted else f"from nowhere: {row}"
