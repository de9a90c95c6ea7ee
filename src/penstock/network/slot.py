"""The place of one reply among the replies of its connection."""

from __future__ import annotations

import asyncio

from penstock.network.later import Later
from penstock.network.part import Part, Reply


class Slot:
    __slots__ = ("memory_bytes", "parts", "ready", "waiting")

    def __init__(self) -> None:
        self.memory_bytes = 0
        self.parts: list[Part] | None = None
        self.ready = False
        self.waiting: Later[Reply] | asyncio.Task[Reply] | None = None
