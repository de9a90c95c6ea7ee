"""Checks of single values; each returns what is wrong with a value, or None.

The wording of ranges and choices is the one Kafka's tools and their users know.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Check = Callable[[Any], str | None]
"""Takes the parsed value, never None, and gives back the complaint."""


class Range:
    """Inclusive bounds; `other` is one more value that is allowed outside of them."""

    __slots__ = ("high", "low", "other")

    def __init__(self, low: int, high: float | None = None, other: int | None = None) -> None:
        self.low = low
        self.high = high
        self.other = other

    def __call__(self, value: float) -> str | None:
        if self.other is not None:
            if value == self.other or self.low <= value <= (self.high or value):
                return None
            return f"Value must be between {self.low} and {self.high} or equal to {self.other}"
        if not value >= self.low:
            return f"Value must be at least {self.low}"
        if self.high is not None and value > self.high:
            return f"Value must be no more than {self.high}"
        return None

    def __str__(self) -> str:
        text = f"[{self.low},...]" if self.high is None else f"[{self.low},...,{self.high}]"
        return text if self.other is None else f"{text} or {self.other}"


class Choice:
    """One of some words; of a list, every item has to be, and with `filled` there has to be one."""

    __slots__ = ("filled", "fold", "words")

    def __init__(self, *words: str, fold: bool = False, filled: bool = False) -> None:
        self.words = words
        self.fold = fold
        self.filled = filled

    def __call__(self, value: str | list[str]) -> str | None:
        items = value if isinstance(value, list) else [value]
        if self.filled and not items:
            return f"At least one is needed of: {', '.join(self.words)}"
        if self.fold:
            items = [item.upper() for item in items]
        if all(item in self.words for item in items):
            return None
        hint = " (case insensitive)" if self.fold else ""
        return f"String must be one of{hint}: {', '.join(self.words)}"

    def __str__(self) -> str:
        return f"{'(case insensitive) ' if self.fold else ''}[{', '.join(self.words)}]"


class Filled:
    """A text or list that is not empty."""

    __slots__ = ()

    def __call__(self, value: str | list[str]) -> str | None:
        if value:
            return None
        return "List must not be empty" if isinstance(value, list) else "String must be non-empty"

    def __str__(self) -> str:
        return "not empty"


class ReplicaList:
    """`*`, or pairs of partition and broker."""

    __slots__ = ()

    def __call__(self, value: list[str]) -> str | None:
        if value == ["*"] or all(self._is_pair(item) for item in value):
            return None
        return "expected * or a list of partition:broker pairs such as 0:1,1:2"

    @staticmethod
    def _is_pair(item: str) -> bool:
        partition, colon, broker = item.partition(":")
        return bool(colon) and partition.strip().isdecimal() and broker.strip().isdecimal()

    def __str__(self) -> str:
        return "* or partition:broker,partition:broker,..."


class HostCounts:
    """Pairs of a host and a number."""

    __slots__ = ()

    def __call__(self, value: str) -> str | None:
        pairs = (pair.strip().rpartition(":") for pair in value.split(",") if pair.strip())
        if all(host.strip() and count.strip().isdecimal() for host, _, count in pairs):
            return None
        return "expected host:count pairs such as 10.0.0.1:100,gateway:5"

    def __str__(self) -> str:
        return "host:count,host:count,..."


class OffsetReset:
    """Where reading begins without a position: one end of the log, or a while ago."""

    __slots__ = ()

    def __call__(self, value: str) -> str | None:
        import re  # only this check needs it

        ago = r"by_duration:P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?"
        if value in ("earliest", "latest") or re.fullmatch(ago, value, re.ASCII | re.IGNORECASE):
            return None
        return "expected earliest, latest, or a time ago such as by_duration:PT1H"

    def __str__(self) -> str:
        return "earliest, latest, by_duration:PnDTnHnMnS"


class PrincipalList:
    """`User:alice;User:bob`"""

    __slots__ = ()

    def __call__(self, value: str) -> str | None:
        for item in filter(None, (one.strip() for one in value.split(";"))):
            kind, colon, _ = item.partition(":")
            if not kind or not colon:
                return f"expected principals as in User:alice;User:bob, not {item}"
        return None

    def __str__(self) -> str:
        return "type:name;type:name;..."


def at_least(low: int) -> Range:
    return Range(low)


def between(low: int, high: int, other: int | None = None) -> Range:
    return Range(low, high, other)


def one_of(*words: str) -> Choice:
    return Choice(*words)


def some_of(*words: str) -> Choice:
    return Choice(*words, filled=True)


class EntryPoint:
    """The name of a class in Python."""

    __slots__ = ()

    def __call__(self, text: str) -> str | None:
        module, colon, name = text.partition(":")
        if text and not (colon and module and name):
            return "No Java class is loaded here: name a class of Python as module:Class"
        return None

    def __str__(self) -> str:
        return "module:Class"


entry_point = EntryPoint()
