"""Waiting for what is to happen: a busy machine may take its time for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE_S = 120.0

Found = TypeVar("Found")


def wait_until(
    happened: Callable[[], Found],
    what: str | Callable[[], object] = "what the test waits for",
    *,
    patience_s: float = PATIENCE_S,
) -> Found:
    """What it found, once that is something; `what` is told if it never is."""
    deadline = time.monotonic() + patience_s
    while not (found := happened()):
        if time.monotonic() > deadline:
            told = what if isinstance(what, str) else what()
            raise AssertionError(f"not in {patience_s:.0f} s: {told}")
        time.sleep(0.02)
    return found
