"""What is typed to name access control entries, and the entries that it means."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import typer

from penstock.cli.failure import UsageFailure
from penstock.metadata.acl import Acl
from penstock.model.acl import (
    CLUSTER_NAME,
    OPERATIONS,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from penstock.model.principal import USER

User = Annotated[
    str,
    typer.Argument(
        metavar="USER", show_default=False, help="A user, or `*` for everybody: alice, User:alice."
    ),
]
Operations = Annotated[
    list[str],
    typer.Argument(
        metavar="OPERATION...", show_default=False, help="What is to be done: read, write, all."
    ),
]


class Resource(NamedTuple):
    type: ResourceType
    name: str


class ResourceOptions(NamedTuple):
    """What it is about."""

    topic: Annotated[str | None, typer.Option("--topic", metavar="NAME", help="A topic.")] = None
    group: Annotated[
        str | None, typer.Option("--group", metavar="NAME", help="A consumer group.")
    ] = None
    transactional_id: Annotated[
        str | None, typer.Option("--transactional-id", metavar="NAME", help="A transactional id.")
    ] = None
    cluster: Annotated[bool, typer.Option("--cluster", help="The cluster itself.")] = False

    def named(self) -> Resource | None:
        named = [
            Resource(kind, name)
            for kind, name in (
                (ResourceType.TOPIC, self.topic),
                (ResourceType.GROUP, self.group),
                (ResourceType.TRANSACTIONAL_ID, self.transactional_id),
                (ResourceType.CLUSTER, CLUSTER_NAME if self.cluster else None),
            )
            if name is not None
        ]
        if len(named) > 1:
            raise UsageFailure(
                "one of --topic, --group, --transactional-id and --cluster at a time"
            )
        return named[0] if named else None

    def required(self) -> Resource:
        resource = self.named()
        if resource is None:
            raise UsageFailure(
                "name what it is about: --topic, --group, --transactional-id, --cluster"
            )
        return resource


class EntryOptions(NamedTuple):
    """What else an entry says."""

    prefixed: Annotated[
        bool, typer.Option("--prefixed", help="Everything whose name begins with NAME.")
    ] = False
    deny: Annotated[bool, typer.Option("--deny", help="Refuse it, whatever else is allowed.")] = (
        False
    )
    host: Annotated[
        str,
        typer.Option(
            "--host", metavar="ADDRESS", help="From where: an address, a network, or `*`."
        ),
    ] = "*"


def principal_of(user: str) -> str:
    return user if ":" in user else f"{USER}:{user}"


def operation_of(word: str, kind: ResourceType) -> Operation:
    known = {one.name.lower().replace("_", "-"): one for one in (*OPERATIONS[kind], Operation.ALL)}
    operation = known.get(word.lower().replace("_", "-"))
    if operation is None:
        raise UsageFailure(
            f"{word!r} is nothing to be done with a {kind.name.lower()}; there are "
            + ", ".join(known)
        )
    return operation


def entries_of(
    principal: str, operations: list[str], about: ResourceOptions, how: EntryOptions
) -> list[Acl]:
    resource = about.required()
    if how.prefixed and resource.type == ResourceType.CLUSTER:
        raise UsageFailure("--prefixed is for names; there is one cluster")
    return [
        Acl(
            resource.type,
            resource.name,
            PatternType.PREFIXED if how.prefixed else PatternType.LITERAL,
            principal,
            how.host,
            operation_of(word, resource.type),
            Permission.DENY if how.deny else Permission.ALLOW,
        )
        for word in operations
    ]
