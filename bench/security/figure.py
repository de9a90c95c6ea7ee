"""The figures of security, what they are beside, and which bar they have to reach."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.metric import Bar, Kind

KAFKA, WITHOUT = "Apache Kafka", "without it"


@dataclass(frozen=True)
class Figure:
    key: str
    title: str
    unit: str
    beside: str
    bar: Bar | None = None
    """Of the second over the first."""

    @property
    def group(self) -> str:
        return self.key.partition(".")[0]


def _at_least(limit: float) -> Bar:
    return Bar(Kind.AT_LEAST, limit)


def _at_most(limit: float) -> Bar:
    return Bar(Kind.AT_MOST, limit)


FIGURES: Final = (
    Figure("tls.produce", "produce over TLS 1.3, 1 KiB", "MB/s", KAFKA, _at_least(1)),
    Figure("tls.consume", "consume over TLS 1.3, 1 KiB", "MB/s", KAFKA, _at_least(1)),
    Figure("tls.connect", "new connections with certificates", "/s", KAFKA, _at_least(1)),
    Figure("login.scram", "new connections with a login by SCRAM", "/s", KAFKA, _at_least(1)),
    Figure("tls.produce.plain", "produce in plain text, 1 KiB", "MB/s", KAFKA),
    Figure("tls.consume.plain", "consume in plain text, 1 KiB", "MB/s", KAFKA),
    Figure("acl.request", "10,000 entries: CPU of a small request", "µs", WITHOUT, _at_most(1.05)),
    Figure("audit.produce", "audit log: produce, 100 B", "records/s", WITHOUT, _at_least(0.97)),
    Figure("audit.consume", "audit log: consume, 100 B", "records/s", WITHOUT, _at_least(0.97)),
    Figure("audit.request", "audit log: CPU of a small request", "µs", WITHOUT),
    Figure(
        "quota.p99",
        "a neighbour at five times its quota: p99 of an ack",
        "ms",
        WITHOUT,
        _at_most(1.5),
    ),
    Figure("quota.kafka", "the same on Apache Kafka", "ms", WITHOUT),
)
GROUPS: Final = tuple(dict.fromkeys(each.group for each in FIGURES))

Pair = tuple[float, float]
Found = dict[str, Pair]
"""By key: what it is beside, and what it is."""


_HEAD: Final = """## Security

Written by `make bench-security`, which is part of `make bench`. Encrypted and logged in, Penstock
is beside Apache Kafka; access control, audit log and quotas are beside the same node without them.
Clients show certificates, logins are by SCRAM-SHA-256. Small requests are single Produce, Fetch and
Metadata requests, and their figure is the node's processor time. Medians of rounds that take turns.

"""


def merged(path: Path, found: Found, groups: Iterable[str], commit: str) -> dict[str, Any]:
    """With what earlier runs found of groups that this one has not measured."""
    earlier = json.loads(path.read_text()) if path.exists() else {"figures": {}, "commits": {}}
    return {
        "figures": earlier["figures"] | {key: list(pair) for key, pair in found.items()},
        "commits": earlier["commits"] | dict.fromkeys(groups, commit),
    }


def page(results: Mapping[str, Any], machine: Mapping[str, str]) -> str:
    commits = ", ".join(f"{group} {commit}" for group, commit in results["commits"].items())
    head = _HEAD + f"- processor: {machine['processor']}\n- commits: {commits}\n"
    return head + "".join(f"\n{_table(beside, results['figures'])}" for beside in (KAFKA, WITHOUT))


def _table(beside: str, figures: Mapping[str, Pair]) -> str:
    ours = "Penstock" if beside == KAFKA else "with it"
    lines = [
        f"| work | {beside} | {ours} | times | bar | |",
        "| --- | ---: | ---: | ---: | --- | --- |",
    ]
    for each in FIGURES:
        if each.beside == beside and each.key in figures:
            lines.append(_line(each, *figures[each.key]))
    return "\n".join(lines) + "\n"


def _line(figure: Figure, before: float, after: float) -> str:
    times = after / before
    bar, verdict = "", ""
    if figure.bar is not None:
        bar = figure.bar.text("")
        verdict = "met" if figure.bar.is_met(times, None) else "**missed**"
    values = " | ".join(f"{_shown(value)} {figure.unit}" for value in (before, after))
    return f"| {figure.title} | {values} | {times:.2f} | {bar} | {verdict} |"


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
