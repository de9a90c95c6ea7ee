"""`penstock sla`: what is typed, and what is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.argument import Json, cluster_of, quiet_app
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.output import print_json, print_line, print_table

if TYPE_CHECKING:
    from penstock.cli.operator.link import Link
    from penstock.model.sla import SlaKey

app = quiet_app("How far behind groups may be: set, list, remove.")

Name = Annotated[
    str, typer.Argument(metavar="NAME", show_default=False, help="Name of a topic or a group.")
]
IsTopic = Annotated[bool, typer.Option("--topic", help="The name is a topic's.")]
IsGroup = Annotated[bool, typer.Option("--group", help="The name is a group's.")]


def _link(ctx: typer.Context) -> Any:
    from penstock.cli.operator.link import Link

    return Link(cluster_of(ctx))


@app.command("set")
def set_command(
    ctx: typer.Context,
    name: Name,
    limit: Annotated[
        str, typer.Argument(metavar="DURATION", show_default=False, help="30s, 5m, 1h30m.")
    ],
    topic: IsTopic = False,
    group: IsGroup = False,
) -> None:
    """Set how old the oldest record may be that a group has not consumed: of this group, or of all
    groups that read this topic. Where both have a limit, the stricter one holds."""
    from penstock.cli.group.sla import parse_duration, write_sla
    from penstock.cli.group.words import duration

    seconds = parse_duration(limit)
    link = _link(ctx)
    key = _key(link, name, topic, group)
    write_sla(link, key, seconds)
    print_line(f"{key.kind} {name} may be {duration(seconds)} behind")


@app.command("list")
def list_command(ctx: typer.Context, as_json: Json = False) -> None:
    """Show the limits that are set, the strictest first."""
    from penstock.cli.group.sla import read_slas
    from penstock.cli.group.words import duration

    found = sorted(read_slas(_link(ctx)).items(), key=lambda each: (each[1], each[0]))
    if as_json:
        print_json([{"kind": key.kind, "name": key.name, "seconds": s} for key, s in found])
        return
    print_table(("kind", "name", "limit"), [(*key, duration(seconds)) for key, seconds in found])


@app.command("remove")
def remove_command(
    ctx: typer.Context, name: Name, topic: IsTopic = False, group: IsGroup = False
) -> None:
    """Take a limit away."""
    from penstock.cli.group.sla import read_slas, write_sla
    from penstock.model.sla import SlaKey

    link = _link(ctx)
    known = read_slas(link)
    kinds = _kinds(topic, group) or ("topic", "group")
    meant = [key for kind in kinds if (key := SlaKey(kind, name)) in known]
    if not meant:
        raise Failure(f"there is no limit for {name}; `penstock sla list` shows those there are")
    if len(meant) > 1:
        raise UsageFailure(f"{name} is a topic and a group with a limit; say --topic or --group")
    write_sla(link, meant[0], None)
    print_line(f"{meant[0].kind} {name} has no limit any more")


def _kinds(topic: bool, group: bool) -> tuple[Any, ...]:
    if topic and group:
        raise UsageFailure("a limit is of a --topic or of a --group, not of both")
    return ("topic",) if topic else ("group",) if group else ()


def _key(link: Link, name: str, topic: bool, group: bool) -> SlaKey:
    """Which of the two a name is, the cluster knows; one that is to come has to be called so."""
    from penstock.cli.group.reader import ClusterReader
    from penstock.model.sla import SlaKey

    kinds = _kinds(topic, group)
    if kinds:
        return SlaKey(kinds[0], name)
    with ClusterReader(link) as reader:
        is_topic = name in reader.topics
        is_group = any(each.name == name for each in reader.listed())
    if is_topic and is_group:
        raise UsageFailure(f"{name} is a topic and a group; say --topic or --group")
    if not is_topic and not is_group:
        raise Failure(f"there is no topic or group {name} yet; say --topic or --group to mean one")
    return SlaKey("topic" if is_topic else "group", name)
