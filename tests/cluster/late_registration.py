"""Runs in a node: as if no controller had registered for a second after the first who asks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from penstock.handlers.api import describe_cluster

PREPARE = f"{__name__}:install"
LATE_S = 1.0


def install() -> None:
    tell, asked_at = describe_cluster._controllers, list[float]()

    def told(*args: Any) -> Iterator[Any]:
        asked_at.append(time.monotonic())
        return tell(*args) if asked_at[-1] - asked_at[0] > LATE_S else iter(())

    describe_cluster._controllers = told
