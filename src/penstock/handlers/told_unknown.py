"""Topics of which a connection was just told that they are unknown, and which its asking had made.

For a moment it is told so again. kafka-go looks twice in a row on one connection, first to assign
partitions and then to have something to compare later looks with: a topic that is there the second
time alone it never reads. Kafka takes that moment to make a topic.
"""

from __future__ import annotations

from collections.abc import Iterable

TOLD_S = 0.05


class ToldUnknown:
    __slots__ = ("_until_s",)

    def __init__(self) -> None:
        self._until_s: dict[str, float] = {}

    def note(self, names: Iterable[str], now_s: float) -> None:
        self._until_s = {name: end for name, end in self._until_s.items() if end > now_s}
        self._until_s |= dict.fromkeys(names, now_s + TOLD_S)

    def holds(self, name: str | None, now_s: float) -> bool:
        return name is not None and self._until_s.get(name, now_s) > now_s
