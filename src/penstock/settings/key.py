"""One setting: its name, type, default, check and how it may change.

Parsing and rendering follow Kafka's rules, so that a value read from a file, sent by a client
or shown by a tool means and looks the same everywhere.
"""

from __future__ import annotations

from typing import Any, Final

from penstock.settings.check import Check, Choice

# Types, by the numbers that DescribeConfigs uses for them.
UNKNOWN: Final = 0
BOOLEAN: Final = 1
STRING: Final = 2
INT: Final = 3
SHORT: Final = 4
LONG: Final = 5
DOUBLE: Final = 6
LIST: Final = 7
CLASS: Final = 8
PASSWORD: Final = 9

TYPE_NAMES: Final = (
    "UNKNOWN",
    "BOOLEAN",
    "STRING",
    "INT",
    "SHORT",
    "LONG",
    "DOUBLE",
    "LIST",
    "CLASS",
    "PASSWORD",
)

HIGH: Final = "HIGH"
MEDIUM: Final = "MEDIUM"
LOW: Final = "LOW"

READ_ONLY: Final = "read-only"
PER_BROKER: Final = "per-broker"
CLUSTER_WIDE: Final = "cluster-wide"

# What a value does in this node; every declaration says one of these.
READ: Final = "read"
"""The node acts on it, and on a change of it."""
AT_START: Final = "at start"
"""The node acts on it, but looks only once: Kafka would change it while it runs."""
UNREAD: Final = "unread"
"""Taken without effect. Nobody loses by that: it tunes what is not there, or what one node alone
has no use for."""
PROMISE: Final = "promise"
"""Refused unless it says what the node does anyway: whoever sets it relies on what is not there."""

INT_MAX: Final = "2147483647"
LONG_MAX: Final = "9223372036854775807"

SHOWN_MAX: Final = 200

_BITS: Final = {INT: 31, SHORT: 15, LONG: 63}

Value = bool | int | float | str | list[str] | None
Row = tuple[str, int, str | None, Check | None, str, str, str]


class ValueProblem(ValueError):
    """Says what was expected of a value; whoever catches it knows the key and the source."""


class Key:
    __slots__ = ("check", "default", "effect", "importance", "name", "type", "update_mode")

    def __init__(
        self,
        name: str,
        kind: int,
        default: str | None = None,
        check: Check | None = None,
        importance: str = MEDIUM,
        update_mode: str = READ_ONLY,
        effect: str = UNREAD,
    ) -> None:
        self.name = name
        self.type = kind
        self.default = default
        self.check = check
        self.importance = importance
        # What would not follow a change must not take one.
        self.update_mode = READ_ONLY if effect in (AT_START, PROMISE) else update_mode
        self.effect = effect

    def __repr__(self) -> str:
        return f"Key({self.name!r}, {self.type_name})"

    @property
    def type_name(self) -> str:
        return TYPE_NAMES[self.type]

    @property
    def is_sensitive(self) -> bool:
        return self.type in (PASSWORD, UNKNOWN)

    def is_default(self, text: str) -> bool:
        """Whether a valid text says the same as saying nothing."""
        if self.default is None:
            return not text.strip()
        return bool(self.parse(text) == self.parse(self.default))

    @property
    def documentation(self) -> str:
        # The sentences are only loaded once somebody wants to read one.
        from penstock.settings.document import document

        return document(self)

    def parse(self, text: str) -> Any:
        """The typed and checked value; ValueProblem says what is wrong with it."""
        value = self._convert(text)
        complaint = None if self.check is None else self.check(value)
        if complaint is not None:
            raise self._malformed(text if self.type == LIST else render(value) or "", complaint)
        return value

    def _convert(self, text: str) -> Value:
        kind = self.type
        if kind == PASSWORD:
            return text
        text = text.strip()
        if kind in _BITS:
            return self._to_int(text, _BITS[kind])
        if kind == BOOLEAN:
            return self._to_bool(text)
        if kind == DOUBLE:
            return self._to_float(text)
        if kind == LIST:
            return self._to_list(text)
        return text

    def _to_bool(self, text: str) -> bool:
        folded = text.lower()
        if folded not in ("true", "false"):
            raise self._malformed(text, "Expected value to be either true or false")
        return folded == "true"

    def _to_int(self, text: str, bits: int) -> int:
        digits = text[1:] if text[:1] in ("+", "-") else text
        if digits.isascii() and digits.isdecimal() and len(digits) <= 20:
            value = int(text)
            if -(1 << bits) <= value < 1 << bits:
                return value
        raise self._malformed(text, f"Not a number of type {self.type_name}")

    def _to_float(self, text: str) -> float:
        digits = text[:-1] if text[-1:] in ("f", "F", "d", "D") else text
        unsigned = digits.lstrip("+-")
        if unsigned in ("NaN", "Infinity") or unsigned[:1].isdecimal() or unsigned[:1] == ".":
            try:
                return float(digits.replace("_", "?"))
            except ValueError:
                pass
        raise self._malformed(text, f"Not a number of type {self.type_name}")

    def _to_list(self, text: str) -> list[str]:
        if not text:
            return []
        items = [item.strip() for item in text.split(",")]
        if not all(items):
            raise self._malformed(text, "An item of the list is empty")
        if isinstance(self.check, Choice):
            return list(dict.fromkeys(items))
        return items

    def _malformed(self, text: str, complaint: str) -> ValueProblem:
        shown = shortened(text.strip())
        return ValueProblem(f"Invalid value {shown} for configuration {self.name}: {complaint}")


def shortened(text: str) -> str:
    """A client's text as far as it is worth repeating."""
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}..."


def render(value: Value) -> str | None:
    """The text form that DescribeConfigs shows."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _render_float(value)
    if isinstance(value, list):
        return ",".join(value)
    return str(value)


def _render_float(value: float) -> str:
    """As Java prints a double: plain between 0.001 and ten million, else with an exponent."""
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    digits = repr(value) if "e" in repr(value) else f"{value:.16e}"
    mantissa, _, exponent = digits.partition("e")
    whole, _, fraction = mantissa.partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}E{int(exponent)}"
