"""Who may do what: Kafka's StandardAuthorizer, over the entries of the metadata log.

A refusal by any entry outweighs every grant. What no entry speaks of is refused, or allowed to all
with `allow.everyone.if.no.acl.found`. Super users may do everything. The audit log takes grants by
its own name alone: who may read all topics does not read what all others do.

The cost of a judgement follows neither the number of entries nor that of principals: entries stand
by type, pattern and name, and below that by principal; prefixes are looked up once for each length
that there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from penstock.metadata.acl import Acl
from penstock.model.acl import WILDCARD, Operation, PatternType, Permission, ResourceType
from penstock.model.internal_topic import AUDIT_TOPIC
from penstock.model.principal import Principal
from penstock.security.host import host_matches

EVERYBODY: Final = "User:*"

_DESCRIBING: Final = frozenset(
    {Operation.DESCRIBE, Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER}
)
_DESCRIBING_CONFIGS: Final = frozenset({Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS})
_IMPLIED_BY: Final = {
    Operation.DESCRIBE: _DESCRIBING,
    Operation.DESCRIBE_CONFIGS: _DESCRIBING_CONFIGS,
}
"""Of grants alone: to refuse READ is not to refuse DESCRIBE."""

_ByPrincipal = dict[str, list[Acl]]
_Named = dict[tuple[int, str], _ByPrincipal]


class Verdict(NamedTuple):
    is_allowed: bool
    acl: Acl | None = None
    """The entry that decided."""
    is_super_user: bool = False
    has_entries: bool = False
    """Whether any entry is about this resource, for whomever."""


_SUPER_USER: Final = Verdict(is_allowed=True, is_super_user=True)


class Authorizer:
    """`version` is another after each change: what was decided before may be outdated."""

    __slots__ = (
        "_by_principal",
        "_lengths",
        "_literals",
        "_prefixes",
        "_super_users",
        "_unlisted_allowed",
        "version",
    )

    def __init__(
        self,
        super_users: Iterable[str] = (),
        *,
        unlisted_allowed: bool = False,
        acls: Iterable[Acl] = (),
    ) -> None:
        self.version = 0
        self._super_users = frozenset(super_users)
        self._unlisted_allowed = unlisted_allowed
        self._literals: _Named = {}
        self._prefixes: _Named = {}
        self._lengths: dict[int, dict[int, int]] = {}
        """By type: how many names of each length there are among the prefixes."""
        self._by_principal: _Named = {}
        """By type and principal, then pattern and name: for `may_any`."""
        for acl in acls:
            self.add(acl)

    def change(self, gone: Acl | None, come: Acl | None) -> None:
        if gone is not None:
            self.remove(gone)
        if come is not None:
            self.add(come)

    def add(self, acl: Acl) -> None:
        self.version += 1
        key = (acl.resource_type, acl.resource_name)
        named = self._named(acl)
        if named is self._prefixes and key not in named:
            lengths = self._lengths.setdefault(acl.resource_type, {})
            length = len(acl.resource_name)
            lengths[length] = lengths.get(length, 0) + 1
        _put(named, key, acl.principal, acl)
        _put(self._by_principal, (acl.resource_type, acl.principal), acl.resource_name, acl)

    def remove(self, acl: Acl) -> None:
        self.version += 1
        key = (acl.resource_type, acl.resource_name)
        named = self._named(acl)
        _drop(named, key, acl.principal, acl)
        if named is self._prefixes and key not in named:
            lengths = self._lengths[acl.resource_type]
            length = len(acl.resource_name)
            lengths[length] -= 1
            if not lengths[length]:
                del lengths[length]
        _drop(self._by_principal, (acl.resource_type, acl.principal), acl.resource_name, acl)

    def _named(self, acl: Acl) -> _Named:
        return self._prefixes if acl.pattern_type == PatternType.PREFIXED else self._literals

    def judge(
        self,
        principal: Principal,
        host: str,
        operation: Operation,
        resource_type: ResourceType,
        name: str,
    ) -> Verdict:
        who = str(principal)
        if who in self._super_users:
            return _SUPER_USER
        granted: Acl | None = None
        by_its_name = resource_type == ResourceType.TOPIC and name == AUDIT_TOPIC
        for acl in self.matching(who, host, operation, resource_type, name):
            if acl.permission != Permission.ALLOW:
                return Verdict(is_allowed=False, acl=acl, has_entries=True)
            if not by_its_name or acl.resource_name == name:
                granted = granted or acl
        if granted is not None:
            return Verdict(is_allowed=True, acl=granted, has_entries=True)
        has_entries = any(True for _ in self._about(resource_type, name))
        is_allowed = self._unlisted_allowed and not has_entries and not by_its_name
        return Verdict(is_allowed=is_allowed, has_entries=has_entries)

    def matching(
        self,
        principal: str,
        host: str,
        operation: Operation,
        resource_type: ResourceType,
        name: str,
    ) -> Iterator[Acl]:
        """Entries that speak of this, for or against it, closest name first."""
        for by_principal in self._about(resource_type, name):
            for acl in _entries(by_principal, principal):
                if _applies(acl, operation) and host_matches(acl.host, host):
                    yield acl

    def _about(self, resource_type: int, name: str) -> Iterator[_ByPrincipal]:
        """Entries whose pattern matches the name, closest first."""
        literals, prefixes = self._literals, self._prefixes
        if (found := literals.get((resource_type, name))) is not None:
            yield found
        for length in sorted(self._lengths.get(resource_type, ()), reverse=True):
            if length <= len(name):
                found = prefixes.get((resource_type, name[:length]))
                if found is not None:
                    yield found
        if name != WILDCARD:
            found = literals.get((resource_type, WILDCARD))
            if found is not None:
                yield found

    def may_any(
        self, principal: Principal, host: str, operation: Operation, resource_type: ResourceType
    ) -> bool:
        """Whether there is any resource of this type that the principal may do this with."""
        if self.judge(principal, host, operation, resource_type, "hardcode").is_allowed:
            return True
        denied: set[tuple[int, str]] = set()
        allowed: set[tuple[int, str]] = set()
        for acl in self._of_principal(principal, resource_type):
            if acl.operation in (operation, Operation.ALL) and host_matches(acl.host, host):
                patterns = allowed if acl.permission == Permission.ALLOW else denied
                patterns.add((acl.pattern_type, acl.resource_name))
        everything = (PatternType.LITERAL, WILDCARD)
        if everything in denied:
            return False
        return everything in allowed or any(not _is_covered(one, denied) for one in allowed)

    def _of_principal(self, principal: Principal, resource_type: int) -> Iterator[Acl]:
        for who in dict.fromkeys((str(principal), EVERYBODY)):
            for acls in self._by_principal.get((resource_type, who), {}).values():
                yield from acls


def _put(named: _Named, key: tuple[int, str], second: str, acl: Acl) -> None:
    named.setdefault(key, {}).setdefault(second, []).append(acl)


def _drop(named: _Named, key: tuple[int, str], second: str, acl: Acl) -> None:
    named[key][second].remove(acl)
    if not named[key][second]:
        del named[key][second]
    if not named[key]:
        del named[key]


def _entries(by_principal: _ByPrincipal, who: str) -> Iterator[Acl]:
    yield from by_principal.get(who, ())
    if who != EVERYBODY:
        yield from by_principal.get(EVERYBODY, ())


def _applies(acl: Acl, operation: Operation) -> bool:
    if acl.operation in (operation, Operation.ALL):
        return True
    return acl.permission == Permission.ALLOW and acl.operation in _IMPLIED_BY.get(operation, ())


def _is_covered(pattern: tuple[int, str], denied: set[tuple[int, str]]) -> bool:
    """Whether everything that a grant is about is refused elsewhere."""
    kind, name = pattern
    if kind == PatternType.LITERAL and pattern in denied:
        return True
    return any((PatternType.PREFIXED, name[:end]) in denied for end in range(1, len(name) + 1))


def super_users_of(text: str) -> frozenset[str]:
    """Of the setting `super.users`, whose form is checked where settings are."""
    return frozenset(filter(None, (one.strip() for one in text.split(";"))))
