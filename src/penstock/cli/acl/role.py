"""Roles: named sets of grants, given to users.

A role is kept as plain entries that any tool of Kafka's shows. What it allows are entries for the
principal `Role:NAME`, which nobody logs in as; who has it has the same entries for themselves, and
one that says so: DESCRIBE_TOKENS of the user `Role:NAME`, which has no tokens.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from penstock.cli.acl.entry import add_acls, read_acls, remove_acls
from penstock.cli.failure import Failure
from penstock.cli.operator.link import Link
from penstock.metadata.acl import Acl
from penstock.model.acl import WILDCARD, Operation, PatternType, Permission, ResourceType

ROLE: Final = "Role:"


class Member(NamedTuple):
    principal: str
    missing: list[Acl]
    """Entries of the role that somebody took away, or that a broken command did not make."""


class Role(NamedTuple):
    name: str
    grants: list[Acl]
    """For the role itself."""
    members: list[Member]


def is_of_roles(acl: Acl) -> bool:
    """What a role allows, or who has it: nothing that lets anybody in."""
    return acl.principal.startswith(ROLE) or _is_membership(acl)


def _is_membership(acl: Acl) -> bool:
    return acl.resource_type == ResourceType.USER and acl.resource_name.startswith(ROLE)


def membership(principal: str, role: str) -> Acl:
    return Acl(
        ResourceType.USER,
        ROLE + role,
        PatternType.LITERAL,
        principal,
        WILDCARD,
        Operation.DESCRIBE_TOKENS,
        Permission.ALLOW,
    )


def roles_of(acls: Iterable[Acl]) -> dict[str, Role]:
    """By name."""
    known = set(acls)
    grants: dict[str, list[Acl]] = {}
    holders: dict[str, list[str]] = {}
    for acl in sorted(known):
        if acl.principal.startswith(ROLE):
            grants.setdefault(acl.principal.removeprefix(ROLE), []).append(acl)
        elif _is_membership(acl):
            holders.setdefault(acl.resource_name.removeprefix(ROLE), []).append(acl.principal)
    return {
        name: Role(
            name,
            grants.get(name, []),
            [
                Member(who, [acl for acl in granted(grants.get(name, []), who) if acl not in known])
                for who in holders.get(name, ())
            ],
        )
        for name in sorted(grants.keys() | holders.keys())
    }


def granted(grants: Iterable[Acl], principal: str) -> list[Acl]:
    return [acl._replace(principal=principal) for acl in grants]


def read_roles(link: Link) -> dict[str, Role]:
    return roles_of(read_acls(link))


def find_role(roles: dict[str, Role], name: str) -> Role:
    if name not in roles:
        there = f"there are {', '.join(roles)}" if roles else "there is none"
        raise Failure(f"there is no role {name}; {there}")
    return roles[name]


def add_grants(link: Link, name: str, grants: list[Acl]) -> list[str]:
    """To the role, and to all who have it, who are given back."""
    role = read_roles(link).get(name)
    members = [] if role is None else [each.principal for each in role.members]
    add_acls(link, [*grants, *(acl for who in members for acl in granted(grants, who))])
    return members


def remove_grants(link: Link, name: str, grants: list[Acl]) -> list[Acl]:
    """Those that the role had. Who has another role that allows the same keeps it."""
    roles = read_roles(link)
    role = find_role(roles, name)
    gone = [acl for acl in grants if acl in role.grants]
    left = roles | {name: role._replace(grants=[a for a in role.grants if a not in gone])}
    remove_acls(link, [*gone, *_no_longer(left, role.members, gone)])
    return gone


def give(link: Link, name: str, principals: Iterable[str]) -> Role:
    """Also mends what is missing of those who have it."""
    role = find_role(read_roles(link), name)
    add_acls(
        link,
        [acl for who in principals for acl in (*granted(role.grants, who), membership(who, name))],
    )
    return role


def take(link: Link, name: str, principals: Iterable[str]) -> list[str]:
    """Those who had it."""
    roles = read_roles(link)
    role = find_role(roles, name)
    asked = set(principals)
    leaving = [each for each in role.members if each.principal in asked]
    staying = [each for each in role.members if each.principal not in asked]
    left = roles | {name: role._replace(members=staying)}
    marks = [membership(each.principal, name) for each in leaving]
    remove_acls(link, [*_no_longer(left, leaving, role.grants), *marks])
    return [each.principal for each in leaving]


def forget(link: Link, name: str) -> Role:
    roles = read_roles(link)
    role = find_role(roles, name)
    left = {each: other for each, other in roles.items() if each != name}
    marks = [membership(each.principal, name) for each in role.members]
    remove_acls(link, [*_no_longer(left, role.members, role.grants), *marks, *role.grants])
    return role


def _no_longer(left: dict[str, Role], members: Iterable[Member], grants: list[Acl]) -> list[Acl]:
    """What these have by none of the roles that are left."""
    return [
        acl
        for member in members
        for acl in granted(grants, member.principal)
        if not any(_gives(role, acl) for role in left.values())
    ]


def _gives(role: Role, acl: Acl) -> bool:
    holders = {each.principal for each in role.members}
    return acl.principal in holders and acl._replace(principal=ROLE + role.name) in role.grants
