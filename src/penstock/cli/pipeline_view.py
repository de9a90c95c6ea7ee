"""A running pipeline on the screen: a live table for a person, JSON lines for a program."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from penstock.cli.failure import complain
from penstock.cli.output import plural, print_line
from penstock.pipelines.run.launch import Watch

if TYPE_CHECKING:
    from rich.console import RenderableType

    from penstock.pipelines.error import PipelineError
    from penstock.pipelines.run.progress import Progress
    from penstock.pipelines.run_settings import RunSettings

_EVERY_S = 1.0
_PARTITIONS_SHOWN = 16


@contextmanager
def watching(names: Sequence[str], settings: RunSettings, *, as_json: bool) -> Iterator[Watch]:
    """What the pipelines' launch is to tell of them."""
    if as_json:
        yield JsonLines()
    elif sys.stdout.isatty():
        with LiveView(names, settings.bootstrap_servers) as view:
            yield view
    else:
        for name in names:
            print_line(f"running {name} on {settings.bootstrap_servers}")
        sys.stdout.flush()
        yield Summaries(names)


class Summaries(Watch):
    """A line for each at its end."""

    def __init__(self, names: Sequence[str]) -> None:
        self._several = len(names) > 1

    def started(self, name: str, spark_ui: str | None) -> None:
        if spark_ui is not None:
            print_line(f"Spark's web UI is at {spark_ui}")
            sys.stdout.flush()

    def ended(self, name: str, now: Progress) -> None:
        print_line(_summary(name, now))
        sys.stdout.flush()

    def failed(self, name: str, error: PipelineError) -> None:
        # The only one's failure is that of the command, which says it.
        if self._several:
            complain(str(error))


class JsonLines(Watch):
    """A line of JSON for each, not more often than a reader takes in."""

    def __init__(self) -> None:
        self._next: dict[str, float] = {}

    def progressed(self, name: str, now: Progress) -> None:
        if time.monotonic() >= self._next.get(name, 0.0):
            self._next[name] = time.monotonic() + _EVERY_S
            self.ended(name, now)

    def ended(self, name: str, now: Progress) -> None:
        said = {"pipeline": name, "time": round(time.time(), 3), **now.document()}
        print_line(json.dumps(said))
        sys.stdout.flush()

    def failed(self, name: str, error: PipelineError) -> None:
        said = {"pipeline": name, "time": round(time.time(), 3), "error": str(error)}
        print_line(json.dumps(said))
        sys.stdout.flush()


class LiveView(Summaries):
    def __init__(self, names: Sequence[str], where: str) -> None:
        from rich.live import Live

        super().__init__(names)
        self._where = where
        self._began = time.monotonic()
        self._now: dict[str, Progress] = {}
        self._ui: str | None = None
        first = f"starting Spark for {', '.join(names)} …"
        self._live = Live(first, refresh_per_second=4, transient=True)

    def __enter__(self) -> LiveView:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def started(self, name: str, spark_ui: str | None) -> None:
        self._ui = spark_ui

    def progressed(self, name: str, now: Progress) -> None:
        self._now[name] = now
        self._show()

    def ended(self, name: str, now: Progress) -> None:
        self._leave(name)
        super().ended(name, now)

    def failed(self, name: str, error: PipelineError) -> None:
        self._leave(name)
        super().failed(name, error)

    def _leave(self, name: str) -> None:
        self._now.pop(name, None)
        if not self._now:
            self._live.stop()

    def _show(self) -> None:
        from rich.console import Group

        elapsed_s = time.monotonic() - self._began
        shown = (render(each, self._where, now, elapsed_s) for each, now in self._now.items())
        self._live.update(Group(*shown, ending(self._ui)))


def _summary(name: str, now: Progress) -> str:
    said = f"{name} ended: {plural(now.input_rows, 'record')} in, {now.output_rows:,} out"
    for count, noun in ((now.dead_letters, "dead letter"), (now.late, "late row")):
        said += f", {plural(count, noun)}" if count else ""
    return said


def ending(spark_ui: str | None) -> RenderableType:
    from rich.text import Text

    address = "" if spark_ui is None else f"Spark's web UI: {spark_ui}; "
    return Text(f"{address}Ctrl-C ends it between two batches", style="dim")


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
    return Group(head, figures, lags)


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
    if said.get("spark_ui"):
        lines.append(f"  Spark's web UI {said['spark_ui']}")
    if "error" in said:
        lines.append(f"  {said['error']}")
    lines += [f"  {label:<13} {value}" for label, value in figure_rows(said["progress"])]
    return lines
