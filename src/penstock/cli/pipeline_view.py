"""A running pipeline on the screen: a live table for a person, JSON lines for a program."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from penstock.cli.output import plural, print_line

if TYPE_CHECKING:
    from rich.console import RenderableType

    from penstock.pipelines.run.progress import Progress
    from penstock.pipelines.run_settings import RunSettings

_EVERY_S = 1.0
_PARTITIONS_SHOWN = 16

Watch = Callable[["Progress"], None]


@contextmanager
def watching(name: str, settings: RunSettings, *, as_json: bool) -> Iterator[tuple[Watch, Watch]]:
    """What to call with each progress, and with the last one."""
    if as_json:
        yield _Paced(lambda now: _print_json(name, now)), lambda now: _print_json(name, now)
    elif sys.stdout.isatty():
        yield from _live(name, settings)
    else:
        print_line(f"running {name} on {settings.bootstrap_servers}")
        sys.stdout.flush()
        yield _nothing, lambda now: print_line(_summary(name, now))


class _Paced:
    """Not more often than a reader takes in."""

    def __init__(self, show: Watch) -> None:
        self._show = show
        self._next = 0.0

    def __call__(self, now: Progress) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _EVERY_S
            self._show(now)


def _nothing(_: Progress) -> None:
    pass


def _print_json(name: str, now: Progress) -> None:
    print_line(json.dumps({"pipeline": name, "time": round(time.time(), 3), **now.document()}))
    sys.stdout.flush()


def _summary(name: str, now: Progress) -> str:
    said = f"{name} ended: {plural(now.input_rows, 'record')} in, {now.output_rows:,} out"
    for count, noun in ((now.dead_letters, "dead letter"), (now.late, "late row")):
        said += f", {plural(count, noun)}" if count else ""
    return said


def _live(name: str, settings: RunSettings) -> Iterator[tuple[Watch, Watch]]:
    from rich.live import Live

    started = time.monotonic()
    with Live(f"starting Spark for {name} …", refresh_per_second=4, transient=True) as live:
        where = settings.bootstrap_servers
        yield (
            lambda now: live.update(render(name, where, now, time.monotonic() - started)),
            lambda now: live.stop() or print_line(_summary(name, now)),  # type: ignore[func-returns-value]
        )


def render(name: str, where: str, now: Progress, elapsed_s: float) -> RenderableType:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    head = Text.assemble((name, "bold"), f"  on {where}, for {elapsed_s:,.0f} s")
    figures = Table.grid(padding=(0, 3))
    for label, value in figure_rows(now.document()):
        figures.add_row(Text(label, style="dim"), value)
    lags = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("topic", "partition", "position", "lag"):
        lags.add_column(column, justify="left" if column == "topic" else "right")
    for each in now.partitions[:_PARTITIONS_SHOWN]:
        lags.add_row(each.topic, str(each.partition), f"{each.position:,}", f"{each.lag:,}")
    if len(now.partitions) > _PARTITIONS_SHOWN:
        lags.add_row(f"and {len(now.partitions) - _PARTITIONS_SHOWN} more", "", "", "")
    return Group(head, figures, lags, Text("Ctrl-C ends it between two batches", style="dim"))


def figure_rows(progress: dict[str, Any]) -> list[tuple[str, str]]:
    p50, p99 = progress["batch_ms_p50"], progress["batch_ms_p99"]
    rows = [
        ("in", f"{progress['input_rows']:,} records, {progress['input_rate']:,.0f}/s"),
        ("out", f"{progress['output_rows']:,} rows, {progress['output_rate']:,.0f}/s"),
        ("batches", f"{progress['batches']:,}, p50 {p50:,.0f} ms, p99 {p99:,.0f} ms"),
        ("lag", f"{progress['lag']:,} records"),
        ("dead letters", f"{progress['dead_letters']:,}"),
        ("late", f"{progress['late']:,}"),
        ("restarts", f"{progress['restarts']:,}"),
    ]
    if progress["latency_ms_p99"]:
        said = f"p50 {progress['latency_ms_p50']:,.0f} ms, p99 {progress['latency_ms_p99']:,.0f} ms"
        rows.insert(3, ("latency", said))
    for key, value in progress["extra"].items():
        rows += _expectations(value) if key == "expectations" else [(_label(key), str(value))]
    return rows


def _label(key: str) -> str:
    return key.replace("_", " ")


def _expectations(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (f"{of}: {rule}", f"{outcome['passed']:,} passed, {outcome['failed']:,} failed")
        for of, rules in found.items()
        for rule, outcome in rules.items()
    ]


def status_lines(said: dict[str, Any]) -> list[str]:
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(said["started"]))
    lines = [f"{said['pipeline']}  {said['state']}, process {said['pid']} on {said['host']}"]
    lines.append(f"  started {since}, broker {said['bootstrap_servers']}")
    if "error" in said:
        lines.append(f"  {said['error']}")
    lines += [f"  {label:<13} {value}" for label, value in figure_rows(said["progress"])]
    return lines
