"""Looks at groups, again and again: one of them, or all with the worst first."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

from penstock.cli.failure import Failure, complain
from penstock.cli.group.order import RankedLag, ranked
from penstock.cli.group.reader import ClusterReader
from penstock.cli.group.sla import read_slas
from penstock.cli.group.state import GroupLag, PartitionLag, Place
from penstock.cli.group.view import RANK_COLUMNS, lag_document, rank_document, rank_row
from penstock.cli.group.words import duration, summary
from penstock.cli.interrupt import check_interrupt
from penstock.cli.operator.link import Link
from penstock.cli.output import Cell, note, plural, print_line, print_table

T = TypeVar("T")
_CLEAR: Final = "\x1b[H\x1b[2J"
_WATCH_COLUMNS: Final = ("topic", "part", "committed", "end", "behind", "age", "reads/s", "grows/s")


def watch_group(link: Link, name: str, interval_s: float, count: int, *, as_json: bool) -> None:
    before: GroupLag | None = None

    def look() -> GroupLag:
        with ClusterReader(link) as reader:
            (lag,) = reader.lags([reader.named(name)])
            return lag

    for lag in _looks(look, interval_s, count):
        if as_json:
            _print_json_line(lag_document(lag))
        else:
            _clear()
            print_line(summary(lag))
            print_table(_WATCH_COLUMNS, rate_rows(before, lag))
            sys.stdout.flush()
        before = lag


def rate_rows(before: GroupLag | None, lag: GroupLag) -> list[tuple[Cell, ...]]:
    """Rates are of the time between two looks, and not known at the first."""
    earlier: dict[Place, PartitionLag] = {}
    passed_s = 0.0
    if before is not None:
        earlier = {each.place: each for each in before.partitions}
        passed_s = (lag.now_ms - before.now_ms) / 1000

    def rate(now: int | None, then: int | None) -> int | None:
        if now is None or then is None or passed_s <= 0:
            return None
        return round((now - then) / passed_s)

    return [
        (
            *each.place,
            each.committed,
            each.end,
            each.lag,
            duration(each.lag_s(lag.now_ms)),
            rate(each.done, _done_before(each, old)),
            rate(each.end, old.end if old else None),
        )
        for each in lag.partitions
        for old in [earlier.get(each.place)]
    ]


def _done_before(row: PartitionLag, old: PartitionLag | None) -> int | None:
    """Of share groups what waits and the end are not counted at one moment: none of them goes
    back."""
    if old is None or old.done is None or row.waiting is None or row.done is None:
        return None if old is None else old.done
    return min(old.done, row.done)


def watch_all(
    link: Link, groups: Sequence[str], interval_s: float, count: int, rows: int, *, as_json: bool
) -> None:
    """Every topic of every group, or of some, worst first."""

    def look() -> tuple[list[RankedLag], list[str]]:
        with ClusterReader(link) as reader:
            wanted = [reader.named(each) for each in groups] or reader.described(reader.listed())
            return ranked(reader.lags(wanted), read_slas(link)), reader.gaps

    for found, gaps in _looks(look, interval_s, count):
        if as_json:
            _print_json_line([rank_document(each) for each in found[:rows]])
            _tell_missing(found, gaps)
            continue
        _clear()
        print_table(RANK_COLUMNS, [rank_row(each) for each in found[:rows]])
        sys.stdout.flush()
        if len(found) > rows:
            note(f"{len(found) - rows} more that are less behind; --rows shows more")
        _tell_missing(found, gaps)


def _tell_missing(found: Sequence[RankedLag], gaps: Sequence[str]) -> None:
    tell_gaps(gaps)
    count = len({each.place for row in found for each in row.lag.partitions if each.is_unanswered})
    if count:
        complain(
            f"the leaders of {plural(count, 'partition')} do not answer: what is behind there is "
            "not counted"
        )


def tell_gaps(gaps: Sequence[str]) -> None:
    """Beside a list of groups, for whoever would take it for all of them."""
    if gaps:
        complain(f"groups may be missing here: {'; '.join(dict.fromkeys(gaps))}")


def _looks(look: Callable[[], T], interval_s: float, count: int) -> Iterator[T]:
    """Whoever watches without an end wants to see how an outage goes on: only a first look that
    fails ends it."""
    done = 0
    while not count or done < count:
        check_interrupt()
        if done:
            time.sleep(interval_s)
        try:
            seen = look()
        except Failure as failure:
            if count or not done:
                raise
            complain(f"{failure}; trying again")
            continue
        yield seen
        done += 1


def _clear() -> None:
    if sys.stdout.isatty():
        sys.stdout.write(_CLEAR)


def _print_json_line(document: Any) -> None:
    print_line(json.dumps(document))
    sys.stdout.flush()
