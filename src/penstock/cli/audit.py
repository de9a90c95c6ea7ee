"""Questions to the audit log: which of its lines are meant, and what they come to. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Line = dict[str, Any]

SUMMED = ("principal", "client_id", "host", "operation", "resource_type", "resource", "outcome")


@dataclass(frozen=True, slots=True)
class Question:
    """What is None is not asked for."""

    principal: str | None = None
    resource: str | None = None
    operation: str | None = None
    outcome: str | None = None
    kind: str | None = None
    client_id: str | None = None
    host: str | None = None

    def matches(self, line: Line) -> bool:
        return all(
            _is_meant(wanted, line.get(name))
            for name in self.__dataclass_fields__
            if (wanted := getattr(self, name)) is not None
        )


def _is_meant(wanted: str, found: Any) -> bool:
    """`alice` means `User:alice` too; a star at the end stands for anything."""
    if not isinstance(found, str):
        return False
    names = (found, found.partition(":")[2])
    if wanted.endswith("*"):
        return any(name.startswith(wanted[:-1]) for name in names)
    return wanted in names or wanted.upper() == found


def parse_line(text: bytes | str) -> Line | None:
    """None for what is no line of an audit log."""
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return line if isinstance(line, dict) and "kind" in line and "time" in line else None


@dataclass(slots=True)
class Total:
    requests: int = 0
    records: int = 0
    bytes: int = 0
    first: str = ""
    last: str = ""


def totals(lines: Iterable[Line]) -> dict[tuple[str | None, ...], Total]:
    """By who did what to which, with the most requests first."""
    found: dict[tuple[str | None, ...], Total] = {}
    for line in lines:
        total = found.setdefault(tuple(line.get(name) for name in SUMMED), Total())
        total.requests += line.get("requests", 1)
        total.records += line.get("records", 0)
        total.bytes += line.get("bytes", 0)
        since = str(line.get("since", line["time"]))
        total.first = min(total.first or since, since)
        total.last = max(total.last, line["time"])
    return dict(sorted(found.items(), key=lambda item: -item[1].requests))


def sentence(line: Line) -> str:
    """For a person: one line of text."""
    who = f"{line.get('principal')} ({line.get('client_id') or '-'} at {line.get('host')})"
    match line["kind"]:
        case "login":
            did = f"login by {line.get('mechanism')}"
        case _:
            did = f"{line.get('operation')} {line.get('resource_type')} {line.get('resource')}"
    said = f"{line['time']}  {line.get('outcome'):<7}  {who}  {did}"
    if line.get("error"):
        said += f"  {line['error']}"
    if line["kind"] == "access":
        said += f"  requests={line.get('requests')} bytes={line.get('bytes')}"
        said += f" records={line['records']}" if line.get("records") else ""
    if line["kind"] == "change":
        said += f"  {_shown(line.get('before'))} -> {_shown(line.get('after'))}"
    return said


def _shown(values: Any) -> str:
    return "-" if values is None else json.dumps(values, separators=(",", ":"))
