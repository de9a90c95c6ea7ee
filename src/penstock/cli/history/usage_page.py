"""`penstock brokers usage`: reads, and prints lines with bars, or one JSON document."""

from __future__ import annotations

import time
from typing import Any, Final

from penstock.cli.failure import Failure
from penstock.cli.history.reader import NO_PAST, PastReader
from penstock.cli.history.usage import DAY_MS, Span, Usage, alarms, thin_hours, usage_of
from penstock.cli.operator.link import Link
from penstock.cli.output import human_bytes, print_json, print_line, print_table, show_time
from penstock.model.figures import HOUR_MS, HOURS, MINUTES, Figures

_BAR: Final = 32
_LATE_MS: Final = 300_000
"""So much later an interval may be written down."""


def show_usage(
    link: Link, brokers: list[int], days: int, span_ms: int, capacity: int | None, *, as_json: bool
) -> None:
    found = [
        each for each in read_usage(link, days, span_ms) if not brokers or each.broker in brokers
    ]
    if as_json:
        print_json([usage_document(each, capacity) for each in found])
        return
    if not found:
        raise Failure("nothing was written down of these brokers in that time")
    most = max(max(span.bytes_in_s, span.bytes_out_s) for each in found for span in each.spans)
    for number, each in enumerate(found):
        if number:
            print_line("")
        _print_broker(each, span_ms, capacity, most)
    for line in [one for each in found for one in alarms(each, capacity)]:
        print_line(f"warning: {line}")


def read_usage(link: Link, days: int, span_ms: int) -> list[Usage]:
    reader = PastReader(link)
    if not reader.is_kept:
        raise Failure(NO_PAST)
    now_ms = int(time.time() * 1000)
    from_ms = (now_ms - days * DAY_MS) // span_ms * span_ms
    hours = reader.read(HOURS, from_ms)
    minutes: list[Figures] = []
    for begin, end in _ranges(thin_hours(hours, from_ms, now_ms)):
        minutes += reader.read(MINUTES, begin, end + _LATE_MS)
    return usage_of(hours, minutes, span_ms)


def _ranges(hours: list[int]) -> list[tuple[int, int]]:
    """Hours that follow each other are read in one go."""
    found: list[tuple[int, int]] = []
    for each in hours:
        if found and found[-1][1] == each:
            found[-1] = (found[-1][0], each + HOUR_MS)
        else:
            found.append((each, each + HOUR_MS))
    return found


def _print_broker(usage: Usage, span_ms: int, capacity: int | None, most: float) -> None:
    peak = usage.peak
    of_capacity = "" if capacity is None else f", {usage.peak_s / capacity:.0%} of what it can"
    print_line(
        f"broker {usage.broker}: {human_bytes(usage.total_in)} in, {human_bytes(usage.total_out)} "
        f"out since {show_time(usage.spans[0].figures.from_ms)}"
    )
    print_line(
        f"busiest hour: {_rate(usage.peak_s)}, from {_when(peak.peak_ms, HOUR_MS)}{of_capacity}"
    )
    for disk in usage.disks:
        share = disk.used_bytes / max(disk.total_bytes, 1)
        print_line(f"disk: {disk.path}, {share:.0%} of {human_bytes(disk.total_bytes)} used")
    rows = [
        (
            _when(each.from_ms, span_ms),
            _rate(each.bytes_in_s),
            _rate(each.bytes_out_s),
            _rate(max(each.peak_in, each.peak_out)),
            f"{each.figures.idle:.0%}",
            _bar(max(each.bytes_in_s, each.bytes_out_s), most),
        )
        for each in usage.spans
    ]
    unit = "hour" if span_ms == HOUR_MS else "day"
    print_table((unit, "in", "out", "busiest hour", "idle", "in or out"), rows)


def _when(timestamp_ms: int, span_ms: int) -> str:
    text = show_time(timestamp_ms)
    return text[:16] + "Z" if span_ms == HOUR_MS else text[:10]


def _rate(value: float) -> str:
    return f"{human_bytes(int(value))}/s"


def _bar(value: float, most: float) -> str:
    width = round(_BAR * value / most) if most else 0
    return "█" * max(width, 1) if value else "·"


def usage_document(usage: Usage, capacity: int | None) -> dict[str, Any]:
    return {
        "broker": usage.broker,
        "bytes_in": usage.total_in,
        "bytes_out": usage.total_out,
        "busiest": _span_document(usage.peak),
        "busiest_share": None if capacity is None else usage.peak_s / capacity,
        "disks": [each._asdict() for each in usage.disks],
        "spans": [_span_document(each) for each in usage.spans],
        "alarms": alarms(usage, capacity),
    }


def _span_document(span: Span) -> dict[str, Any]:
    figures = span.figures
    return {
        "from": span.from_ms,
        "seconds": figures.seconds,
        "bytes_in": figures.bytes_in,
        "bytes_out": figures.bytes_out,
        "records_in": figures.records_in,
        "requests": figures.requests,
        "peak_in_s": span.peak_in,
        "peak_out_s": span.peak_out,
        "peak_from": span.peak_ms,
        "idle": figures.idle,
    }
