"""`penstock acls`: what is typed, and what is printed."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import typer

from penstock.cli.argument import Json, cluster_of, quiet_app
from penstock.cli.cluster import Cluster
from penstock.cli.failure import UsageFailure
from penstock.cli.output import note, print_json, print_line, print_table
from penstock.metadata.acl import Acl
from penstock.model.acl import (
    CLUSTER_NAME,
    OPERATIONS,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from penstock.model.principal import USER, Principal

app = quiet_app("Who may do what: list, add, remove, explain.")

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
Topic = Annotated[str | None, typer.Option("--topic", metavar="NAME", help="A topic.")]
Group = Annotated[str | None, typer.Option("--group", metavar="NAME", help="A consumer group.")]
Transaction = Annotated[
    str | None, typer.Option("--transactional-id", metavar="NAME", help="A transactional id.")
]
OfCluster = Annotated[bool, typer.Option("--cluster", help="The cluster itself.")]
Prefixed = Annotated[
    bool, typer.Option("--prefixed", help="Everything whose name begins with NAME.")
]
Deny = Annotated[bool, typer.Option("--deny", help="Refuse it, whatever else is allowed.")]
Host = Annotated[
    str,
    typer.Option("--host", metavar="ADDRESS", help="From where: an address, a network, or `*`."),
]


class _Resource(NamedTuple):
    type: ResourceType
    name: str


def _resource(
    topic: str | None, group: str | None, transactional_id: str | None, cluster: bool
) -> _Resource | None:
    named = [
        _Resource(kind, name)
        for kind, name in (
            (ResourceType.TOPIC, topic),
            (ResourceType.GROUP, group),
            (ResourceType.TRANSACTIONAL_ID, transactional_id),
            (ResourceType.CLUSTER, CLUSTER_NAME if cluster else None),
        )
        if name is not None
    ]
    if len(named) > 1:
        raise UsageFailure("one of --topic, --group, --transactional-id and --cluster at a time")
    return named[0] if named else None


def _required(
    topic: str | None, group: str | None, transactional_id: str | None, cluster: bool
) -> _Resource:
    resource = _resource(topic, group, transactional_id, cluster)
    if resource is None:
        raise UsageFailure("name what it is about: --topic, --group, --transactional-id, --cluster")
    return resource


def _principal(user: str) -> str:
    return user if ":" in user else f"{USER}:{user}"


def _operation(word: str, kind: ResourceType) -> Operation:
    known = {one.name.lower().replace("_", "-"): one for one in (*OPERATIONS[kind], Operation.ALL)}
    operation = known.get(word.lower().replace("_", "-"))
    if operation is None:
        raise UsageFailure(
            f"{word!r} is nothing to be done with a {kind.name.lower()}; there are "
            + ", ".join(known)
        )
    return operation


@app.command("list")
def list_command(
    ctx: typer.Context,
    user: Annotated[
        str | None, typer.Option("--user", metavar="USER", help="Only those for one user.")
    ] = None,
    topic: Topic = None,
    group: Group = None,
    transactional_id: Transaction = None,
    cluster: OfCluster = False,
    as_json: Json = False,
) -> None:
    """Show entries; of a name, all that apply to it."""
    from penstock.cli.acl import document, operation_word, read_acls, type_word

    resource = _resource(topic, group, transactional_id, cluster)
    acls = read_acls(
        cluster_of(ctx),
        ResourceType.ANY if resource is None else resource.type,
        None if resource is None else resource.name,
        None if user is None else _principal(user),
    )
    if as_json:
        print_json([document(acl) for acl in acls])
        return
    rows = [
        (
            acl.principal,
            Permission(acl.permission).name.lower(),
            operation_word(acl.operation),
            type_word(acl.resource_type),
            acl.resource_name + ("..." if acl.pattern_type == PatternType.PREFIXED else ""),
            acl.host,
        )
        for acl in acls
    ]
    print_table(("principal", "", "operation", "resource", "name", "host"), rows)


def _entries(
    user: str, operations: list[str], resource: _Resource, prefixed: bool, deny: bool, host: str
) -> list[Acl]:
    if prefixed and resource.type == ResourceType.CLUSTER:
        raise UsageFailure("--prefixed is for names; there is one cluster")
    return [
        Acl(
            resource.type,
            resource.name,
            PatternType.PREFIXED if prefixed else PatternType.LITERAL,
            _principal(user),
            host,
            _operation(word, resource.type),
            Permission.DENY if deny else Permission.ALLOW,
        )
        for word in operations
    ]


@app.command("add")
def add_command(
    ctx: typer.Context,
    user: User,
    operations: Operations,
    topic: Topic = None,
    group: Group = None,
    transactional_id: Transaction = None,
    cluster: OfCluster = False,
    prefixed: Prefixed = False,
    deny: Deny = False,
    host: Host = "*",
    as_json: Json = False,
) -> None:
    """Allow a user something, or refuse it."""
    from penstock.cli.acl import add_acls, document, told

    resource = _required(topic, group, transactional_id, cluster)
    acls = _entries(user, operations, resource, prefixed, deny, host)
    add_acls(cluster_of(ctx), acls)
    if as_json:
        print_json([document(acl) for acl in acls])
        return
    for acl in acls:
        print_line(told(acl))


@app.command("remove")
def remove_command(
    ctx: typer.Context,
    user: User,
    operations: Operations,
    topic: Topic = None,
    group: Group = None,
    transactional_id: Transaction = None,
    cluster: OfCluster = False,
    prefixed: Prefixed = False,
    deny: Deny = False,
    host: Host = "*",
    as_json: Json = False,
) -> None:
    """Take entries back, written as they were added."""
    from penstock.cli.acl import document, remove_acls, told

    resource = _required(topic, group, transactional_id, cluster)
    acls = _entries(user, operations, resource, prefixed, deny, host)
    removed = remove_acls(cluster_of(ctx), acls)
    if as_json:
        print_json([document(acl) for acl in removed])
        return
    for acl in removed:
        print_line(f"no longer: {told(acl)}")
    if not removed:
        note("there was no such entry; `penstock acls list` shows those there are")


@app.command("explain")
def explain_command(
    ctx: typer.Context,
    user: User,
    operation: Annotated[
        str,
        typer.Argument(
            metavar="OPERATION", show_default=False, help="What is to be done: read, write."
        ),
    ],
    topic: Topic = None,
    group: Group = None,
    transactional_id: Transaction = None,
    cluster: OfCluster = False,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="The address of the client.")
    ] = "127.0.0.1",
    as_json: Json = False,
) -> None:
    """Say why something is allowed or refused, and by which entry."""
    resource = _required(topic, group, transactional_id, cluster)
    wanted = _operation(operation, resource.type)
    explanation = _explain(cluster_of(ctx), _principal(user), host, wanted, resource)
    if as_json:
        print_json(explanation.document())
        return
    for line in explanation.lines():
        print_line(line)


class _Explanation(NamedTuple):
    is_allowed: bool
    question: str
    acl: Acl | None
    others: list[Acl]
    """Entries about the same name that did not decide."""

    def lines(self) -> list[str]:
        from penstock.cli.acl import told

        lines = [f"{'allowed' if self.is_allowed else 'refused'}: {self.question}"]
        if self.acl is not None:
            lines.append(f"by: {told(self.acl)}")
        elif self.others:
            lines.append("because no entry allows it; there are entries for others, or for more")
        else:
            lines.append(
                "because no entry is about it; with allow.everyone.if.no.acl.found the brokers "
                "would allow it"
            )
        lines += [f"also: {told(acl)}" for acl in self.others]
        lines.append("super.users of the brokers may do everything; brokers do not show who is one")
        return lines

    def document(self) -> dict[str, object]:
        from penstock.cli.acl import document

        return {
            "allowed": self.is_allowed,
            "by": None if self.acl is None else document(self.acl),
            "also": [document(acl) for acl in self.others],
        }


def _explain(
    cluster: Cluster, principal: str, host: str, operation: Operation, resource: _Resource
) -> _Explanation:
    from penstock.cli.acl import operation_word, read_acls, type_word
    from penstock.security.authorizer import Authorizer

    acls = read_acls(cluster, resource.type, resource.name)
    kind, _, name = principal.partition(":")
    verdict = Authorizer(acls=acls).judge(
        Principal(kind, name), host, operation, resource.type, resource.name
    )
    what = (
        "the cluster"
        if resource.type == ResourceType.CLUSTER
        else f"{type_word(resource.type)} {resource.name}"
    )
    question = f"{principal} to {operation_word(operation)} {what} from {host}"
    others = [acl for acl in acls if acl != verdict.acl]
    return _Explanation(verdict.is_allowed, question, verdict.acl, others)
