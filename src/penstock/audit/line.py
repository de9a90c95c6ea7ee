"""The lines of the audit log: JSON objects of a documented, versioned shape (docs/audit.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

VERSION: Final = 1


class Who(NamedTuple):
    """Somebody, and from where."""

    principal: str
    client_id: str | None
    host: str
    listener: str


def at(time_ms: int) -> str:
    """UTC, to the millisecond."""
    time = datetime.fromtimestamp(time_ms / 1000, UTC)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def line(kind: str, time_ms: int, node: Mapping[str, Any], who: Who, **rest: Any) -> bytes:
    said = {"version": VERSION, "kind": kind, "time": at(time_ms), **node, **who._asdict(), **rest}
    return json.dumps(said, separators=(",", ":"), default=str).encode()
