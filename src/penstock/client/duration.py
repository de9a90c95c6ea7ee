"""Durations as people write them: "100ms", "30s", "5m", "2h", "14d". Pure."""

from __future__ import annotations

import re

from penstock.client.error import DeclarationError

_UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_FORM = re.compile(r"(\d+)(ms|s|m|h|d)")


def milliseconds(text: str) -> int:
    found = _FORM.fullmatch(text)
    if found is None:
        raise DeclarationError(f'a duration is a number and ms, s, m, h or d, not "{text}"')
    return int(found[1]) * _UNITS_MS[found[2]]
