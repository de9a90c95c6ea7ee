"""The rules of the fraud detector, as they stand in the compacted topic `fraud.rules`.

A record's key is the rule's name, its value a JSON object with the kind, the thresholds of that
kind, `weight` and `enabled`; a tombstone withdraws the rule. Several rules of one kind may stand
beside each other. A payment goes to review when the weights of the rules it breaks reach 1. This
module reads, checks and writes rules; judging by them is `judge.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, ClassVar, get_type_hints

import orjson

REVIEW_SCORE = 1.0


class RuleError(ValueError):
    """A rule that cannot be understood; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Velocity:
    """More than `count` payments of one account within `window_ms`."""

    kind: ClassVar[str] = "velocity"
    count: int = 6
    window_ms: int = 60_000
    weight: float = 1.0
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount out of keeping with the account's own history.

    It is more than `factor` times what the account usually pays, and more than `deviations` of its
    usual spread above that (both on a logarithmic scale). Silent until the account has
    `min_history` payments, and below `floor` euro.
    """

    kind: ClassVar[str] = "amount"
    factor: float = 8.0
    deviations: float = 4.5
    min_history: int = 10
    floor: float = 200.0
    weight: float = 1.0
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class NewDevice:
    """A device never seen with an account of at least `min_history` payments.

    Silent below `floor` euro, and below `factor` times what the account usually pays.
    """

    kind: ClassVar[str] = "new-device"
    min_history: int = 5
    factor: float = 3.0
    floor: float = 100.0
    weight: float = 1.0
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Travel:
    """Two payments in countries further apart than `speed_kmh` covers in the time between them."""

    kind: ClassVar[str] = "travel"
    speed_kmh: float = 1000.0
    min_distance_km: float = 300.0
    weight: float = 1.0
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Merchants:
    """A payment to a merchant on the list, from `floor` euro up."""

    kind: ClassVar[str] = "merchants"
    merchants: tuple[str, ...] = ()
    floor: float = 0.0
    weight: float = 1.0
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Limit:
    """A payment of more than `amount` euro, whatever the account's history."""

    kind: ClassVar[str] = "limit"
    amount: float = 10_000.0
    weight: float = 1.0
    enabled: bool = True


Rule = Velocity | Amount | NewDevice | Travel | Merchants | Limit
RULE_TYPES: Mapping[str, type[Rule]] = MappingProxyType(
    {rule.kind: rule for rule in (Velocity, Amount, NewDevice, Travel, Merchants, Limit)}
)

# Names in the generated traffic begin with "shady-" for merchants that only fraud pays at.
DEFAULT_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "velocity-1m": Velocity(count=6, window_ms=60_000),
        "velocity-1h": Velocity(count=25, window_ms=3_600_000),
        "amount": Amount(),
        "new-device": NewDevice(),
        "travel": Travel(),
        "merchants": Merchants(merchants=tuple(f"shady-{number}" for number in range(1, 9))),
    }
)


def decode_rule(value: bytes) -> Rule:
    """The rule in a record's value."""
    try:
        content = orjson.loads(value)
    except orjson.JSONDecodeError as error:
        raise RuleError(f"not JSON: {error}") from None
    if not isinstance(content, dict):
        raise RuleError("a rule is a JSON object")
    return make_rule(content)


def encode_rule(rule: Rule) -> bytes:
    return orjson.dumps(rule_fields(rule))


def rule_fields(rule: Rule) -> dict[str, Any]:
    """The rule as its JSON object, kind first."""
    values = {field.name: getattr(rule, field.name) for field in fields(rule)}
    return {"kind": rule.kind, **values}


def make_rule(content: Mapping[str, Any]) -> Rule:
    """A rule from its JSON object or from text fields of a command line; unset ones are default."""
    kind = content.get("kind")
    if not isinstance(kind, str) or kind not in RULE_TYPES:
        raise RuleError(f"kind {kind!r} is none of {', '.join(RULE_TYPES)}")
    rule_type = RULE_TYPES[kind]
    types = {name: hint for name, hint in get_type_hints(rule_type).items() if name != "kind"}
    unknown = sorted(set(content) - set(types) - {"kind"})
    if unknown:
        raise RuleError(f"{kind} has no {', '.join(unknown)}; it has {', '.join(types)}")
    given = {name: _value(name, types[name], content[name]) for name in content if name != "kind"}
    return rule_type(**given)


def _value(name: str, wanted: Any, value: Any) -> Any:
    try:
        if wanted is bool:
            return _truth(value)
        if wanted in (int, float) and not isinstance(value, bool):
            return _number(wanted, value)
        if wanted == tuple[str, ...]:
            return _names(value)
    except (TypeError, ValueError):
        pass
    raise RuleError(f"{name} cannot be {value!r}")


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value not in ("true", "false"):
        raise ValueError
    return bool(value == "true")


def _number(wanted: type[int] | type[float], value: Any) -> int | float:
    number = float(value)
    if not 0 <= number < 1e15 or (wanted is int and number != int(number)):
        raise ValueError
    return wanted(number)


def _names(value: Any) -> tuple[str, ...]:
    names = value.split(",") if isinstance(value, str) else list(value)
    if not all(isinstance(name, str) for name in names):
        raise ValueError
    return tuple(name.strip() for name in names if name.strip())
