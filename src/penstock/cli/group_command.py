"""`penstock groups`: what is typed, and what is printed. Changes are in `group/change_command`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from penstock.cli.argument import Json, cluster_of, quiet_app
from penstock.cli.group import change_command
from penstock.cli.group.option import Count, GroupName, Interval, check_pace
from penstock.cli.operator.option import Yes
from penstock.cli.output import print_json, print_line, print_table

app = quiet_app("Consumer groups: list, describe, watch, reset, check.")


def _reader(ctx: typer.Context) -> Any:
    from penstock.cli.group.reader import ClusterReader
    from penstock.cli.operator.link import Link

    return ClusterReader(Link(cluster_of(ctx)))


@app.command("list")
def list_command(ctx: typer.Context, as_json: Json = False) -> None:
    """Show the groups there are."""
    from penstock.cli.group.watch import tell_gaps

    with _reader(ctx) as reader:
        found = reader.listed()
    tell_gaps(reader.gaps)
    if as_json:
        print_json(
            [
                {
                    "group": each.name,
                    "state": each.state,
                    "protocol": each.protocol,
                    "coordinator": each.coordinator,
                }
                for each in found
            ]
        )
        return
    print_table(
        ("group", "state", "protocol", "coordinator"),
        [(each.name, each.state or None, each.protocol, each.coordinator) for each in found],
    )


@app.command("describe")
def describe_command(ctx: typer.Context, name: GroupName, as_json: Json = False) -> None:
    """Show how far a group is behind, partition by partition: in records, and by the age of the
    oldest record that it has not consumed."""
    from penstock.cli.group.view import LAG_COLUMNS, lag_document, lag_rows
    from penstock.cli.group.words import summary

    with _reader(ctx) as reader:
        (lag,) = reader.lags([reader.named(name)])
    if as_json:
        print_json(lag_document(lag))
        return
    print_line(summary(lag))
    print_table(LAG_COLUMNS, lag_rows(lag))


@app.command("members")
def members_command(ctx: typer.Context, name: GroupName, as_json: Json = False) -> None:
    """Show the members of a group, and what each of them has to read."""
    from penstock.cli.group.view import MEMBER_COLUMNS, member_documents, member_rows

    with _reader(ctx) as reader:
        (lag,) = reader.lags([reader.named(name)])
    if as_json:
        print_json(member_documents(lag))
        return
    if lag.group.is_empty:
        print_line(f"{name} has no members: nobody reads")
        return
    print_table(MEMBER_COLUMNS, member_rows(lag))


@app.command("watch")
def watch_command(
    ctx: typer.Context,
    name: GroupName,
    interval: Interval = 2.0,
    count: Count = 0,
    as_json: Json = False,
) -> None:
    """Show a group again and again: what it consumes a second, and what is written meanwhile."""
    from penstock.cli.group.watch import watch_group
    from penstock.cli.operator.link import Link

    check_pace(interval, count)
    watch_group(Link(cluster_of(ctx)), name, interval, count, as_json=as_json)


@app.command("delete")
def delete_command(
    ctx: typer.Context,
    names: Annotated[
        list[str], typer.Argument(metavar="GROUP...", show_default=False, help="Names of groups.")
    ],
    yes: Yes = False,
) -> None:
    """Delete groups without members, with their offsets."""
    from penstock.cli.group.change import delete_group
    from penstock.cli.operator.confirm import confirm

    with _reader(ctx) as reader:
        groups = [reader.named(each) for each in dict.fromkeys(names)]
        confirm(f"delete {', '.join(names)}, with all offsets?", yes=yes)
        for each in groups:
            delete_group(reader, each)
            print_line(f"group {each.name} is deleted")


app.command("reset")(change_command.reset)
app.command("undo")(change_command.undo)
app.command("seed")(change_command.seed)
app.command("check")(change_command.check)
