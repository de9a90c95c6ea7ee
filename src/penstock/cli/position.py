"""Places in a topic as a person names them: `beginning`, `end`, 42, -10, a time. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from penstock.cli.failure import UsageFailure

TIMESTAMP_MAX = (1 << 63) - 1
_UNIT_MS = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
FORMS = "beginning, end, OFFSET, -N (the last N), -15m (s, m, h, d ago), ISO time, or @MILLISECONDS"


class Anchor(Enum):
    beginning = "beginning"
    end = "end"
    offset = "offset"
    last = "last"
    time = "time"


@dataclass(frozen=True, slots=True)
class Position:
    anchor: Anchor
    number: int = 0
    """The offset, how many from the end, or milliseconds since the epoch."""

    def resolve(self, start: int, end: int, at_time: int | None) -> int:
        """The offset within [start, end]; `at_time` is the broker's answer to a time."""
        match self.anchor:
            case Anchor.beginning:
                return start
            case Anchor.end:
                return end
            case Anchor.offset:
                return min(max(self.number, start), end)
            case Anchor.last:
                return max(start, end - self.number)
            case Anchor.time:
                return end if at_time is None or at_time < 0 else at_time


def parse_position(text: str, now_ms: int) -> Position:
    if text in ("beginning", "start", "earliest"):
        return Position(Anchor.beginning)
    if text in ("end", "latest"):
        return Position(Anchor.end)
    if re.fullmatch(r"[0-9]{1,100}", text):
        return Position(Anchor.offset, int(text))
    if re.fullmatch(r"-[0-9]{1,100}", text):
        return Position(Anchor.last, -int(text))
    if ago := re.fullmatch(r"-([0-9]{1,100})([smhd])", text):
        # Before 1970 there are no records, and the protocol has other uses for such numbers.
        return Position(Anchor.time, max(0, now_ms - int(ago[1]) * _UNIT_MS[ago[2]]))
    moment_ms = _time(text)
    if moment_ms is None:
        raise UsageFailure(f"{text!r} is no place in a topic; give {FORMS}")
    return Position(Anchor.time, moment_ms)


def parse_time(text: str) -> int:
    moment_ms = _time(text)
    if moment_ms is None:
        raise UsageFailure(f"{text!r} is no time; give an ISO time from 1970 on, or @MILLISECONDS")
    return moment_ms


def _time(text: str) -> int | None:
    """Milliseconds since the epoch; a time without a zone is local time."""
    try:
        if re.fullmatch(r"@[0-9]{1,19}", text):
            moment_ms = int(text[1:])
        else:
            moment_ms = round(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
    return moment_ms if 0 <= moment_ms <= TIMESTAMP_MAX else None
