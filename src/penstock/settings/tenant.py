"""Tenants: a prefix of topic names with an owner and limits, kept as a setting of all brokers.

`penstock.tenant.NAME` holds one as JSON. It is a dynamic setting like others, so that it is in the
metadata log, in force on all nodes, and seen by any tool.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any, Final

from penstock.settings.synonym import TENANT_PREFIX

KEPT: Final = 1000


class TenantProblem(ValueError):
    """Says what is wrong with the text."""


@dataclass(frozen=True, slots=True)
class Tenant:
    """A limit that is None is none."""

    name: str
    prefix: str
    owner: str = ""
    users: tuple[str, ...] = ()
    topics: int | None = None
    partitions: int | None = None
    bytes: int | None = None
    """What its topics may keep altogether by their retention.bytes, on one replica of each."""
    retention_ms: int | None = None
    message_bytes: int | None = None
    defaults: Mapping[str, str] = field(default_factory=dict)
    """Settings of its topics that set none themselves."""

    def text(self) -> str:
        """What a setting holds; without what is not set."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        del values["name"]
        said = {key: value for key, value in values.items() if value not in (None, "", (), {})}
        return json.dumps(said, separators=(",", ":"), ensure_ascii=False)


_NUMBERS: Final = ("topics", "partitions", "bytes", "retention_ms", "message_bytes")
_TEXTS: Final = ("prefix", "owner")
_KNOWN: Final = frozenset((*_NUMBERS, *_TEXTS, "users", "defaults"))


@lru_cache(maxsize=KEPT)
def parse_tenant(name: str, text: str) -> Tenant:
    try:
        said = json.loads(text)
    except ValueError:
        raise TenantProblem('expected JSON such as {"prefix":"payments."}') from None
    if not isinstance(said, dict):
        raise TenantProblem('expected JSON such as {"prefix":"payments."}')
    unknown = sorted(said.keys() - _KNOWN)
    if unknown:
        raise TenantProblem(f"{unknown[0]} is not known; there are {', '.join(sorted(_KNOWN))}")
    _check(said)
    users, defaults = said.pop("users", []), said.pop("defaults", {})
    return Tenant(name, **said, users=tuple(users), defaults=defaults)


def _check(said: Mapping[str, Any]) -> None:
    for key in _NUMBERS:
        value = said.get(key)
        if value is not None and (type(value) is not int or value < 0):
            raise TenantProblem(f"{key} is {value!r}: expected a number, or leave it out")
    for key in _TEXTS:
        if not isinstance(said.get(key, ""), str):
            raise TenantProblem(f"{key} is {said[key]!r}: expected text")
    if not said.get("prefix"):
        raise TenantProblem("prefix is missing: whose topics begin with what?")
    users, defaults = said.get("users", []), said.get("defaults", {})
    if not isinstance(users, list) or not all(isinstance(each, str) for each in users):
        raise TenantProblem("users: expected a list of names")
    if not isinstance(defaults, dict) or not all(isinstance(v, str) for v in defaults.values()):
        raise TenantProblem("defaults: expected settings with text as values")


def complaint(name: str, text: str) -> str | None:
    """What is wrong with the value of a setting, if anything."""
    try:
        parse_tenant(name, text)
    except TenantProblem as problem:
        return str(problem)
    return None


def tenants_of(settings: Mapping[str, str]) -> list[Tenant]:
    """Of all brokers' settings. What cannot be read, by another version perhaps, is left out."""
    found = []
    for key, text in settings.items():
        if key.startswith(TENANT_PREFIX) and complaint(key[len(TENANT_PREFIX) :], text) is None:
            found.append(parse_tenant(key[len(TENANT_PREFIX) :], text))
    return found


class Owners:
    """Called with the name of a topic: whose it is. The longest prefix decides."""

    def __init__(self, tenants: Iterable[Tenant]) -> None:
        self._by_prefix = {each.prefix: each for each in tenants}
        self._lengths = sorted(set(map(len, self._by_prefix)), reverse=True)

    def __call__(self, topic: str) -> Tenant | None:
        found = (self._by_prefix.get(topic[:length]) for length in self._lengths)
        return next((each for each in found if each is not None), None)
