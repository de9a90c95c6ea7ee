"""Quotas of users, clients and addresses, asked for and changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from penstock.cli.failure import UsageFailure
from penstock.cli.operator.link import Link, check
from penstock.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from penstock.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)

BYTE_RATES: Final = ("producer_byte_rate", "consumer_byte_rate")
KEYS: Final = (
    *BYTE_RATES,
    "request_percentage",
    "controller_mutation_rate",
    "connection_creation_rate",
)
DEFAULT: Final = "(default)"

_EXACT, _BY_DEFAULT, _ANY = 0, 1, 2
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_ORDER: Final = ("user", "client-id", "ip")

Entity = tuple[tuple[str, str | None], ...]
"""Kind and name; no name for the default of the kind."""


class Quota(NamedTuple):
    entity: Entity
    values: Mapping[str, float]

    @property
    def shown(self) -> str:
        return ", ".join(f"{kind} {name or DEFAULT}" for kind, name in self.entity)


def entity_of(
    names: Mapping[str, str | None], defaults: Mapping[str, bool], *, needed: bool = True
) -> Entity:
    """From what was typed: of each kind a name, or that its default is meant."""
    for kind in _ORDER:
        if names[kind] is not None and defaults[kind]:
            raise UsageFailure(f"name one {kind}, or mean the default of all, not both")
    entity = tuple(
        (kind, names[kind]) for kind in _ORDER if names[kind] is not None or defaults[kind]
    )
    if needed and not entity:
        raise UsageFailure("say whose quota: --user, --client, --ip, or a default of one of them")
    return entity


def parse_values(pairs: Mapping[str, str]) -> dict[str, float]:
    return {check_key(key): _parse(key, text) for key, text in pairs.items()}


def check_key(key: str) -> str:
    if key not in KEYS:
        raise UsageFailure(f"there is no quota {key}; there are {', '.join(KEYS)}")
    return key


def _parse(key: str, text: str) -> float:
    """A number; of bytes also with K, M or G."""
    units = "[KMG]?" if key in BYTE_RATES else ""
    match = re.fullmatch(
        rf"([0-9]+(?:\.[0-9]+)?) ?({units})(?:i?B)?(?:/s)?", text.strip(), re.IGNORECASE
    )
    value = float(match[1]) * _UNITS[match[2].upper()] if match else 0.0
    if value <= 0:
        example = "5M" if key in BYTE_RATES else "10"
        raise UsageFailure(f"{key} takes a number above 0 such as {example}, not {text!r}")
    return float(int(value)) if key in BYTE_RATES else value


def describe_quotas(link: Link, entity: Entity = ()) -> list[Quota]:
    """Of all, or of exactly this one."""
    components = [
        ComponentData(
            entity_type=kind, match_type=_BY_DEFAULT if name is None else _EXACT, match=name
        )
        for kind, name in entity
    ]
    request = DescribeClientQuotasRequest(components=components, strict=bool(entity))
    answer = link.call(request, DescribeClientQuotasResponse)
    check(answer.error_code, answer.error_message)
    found = [
        Quota(
            _sorted((part.entity_type, part.entity_name) for part in entry.entity),
            {each.key: each.value for each in sorted(entry.values, key=lambda each: each.key)},
        )
        for entry in answer.entries or ()
    ]
    return sorted(found, key=lambda each: each.shown)


def alter_quota(link: Link, entity: Entity, values: Mapping[str, float | None]) -> None:
    """None takes a value away."""
    ops = [
        OpData(key=key, value=0.0 if value is None else value, remove=value is None)
        for key, value in values.items()
    ]
    named = [RequestEntityData(entity_type=kind, entity_name=name) for kind, name in entity]
    request = AlterClientQuotasRequest(entries=[RequestEntryData(entity=named, ops=ops)])
    for entry in link.call(request, AlterClientQuotasResponse).entries:
        check(entry.error_code, entry.error_message)


def _sorted(parts: Iterable[tuple[str, str | None]]) -> Entity:
    return tuple(sorted(parts, key=lambda part: _ORDER.index(part[0])))


def shown_value(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:g}"
