"""`penstock topics`: what is typed, and what is printed."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.argument import Bootstrap, Json, cluster_of, quiet_app
from penstock.cli.cluster import key_values
from penstock.cli.failure import UsageFailure
from penstock.cli.output import plural, print_json, print_line, print_table

app = quiet_app("Topics: list, create, describe, alter, delete.")

Names = Annotated[list[str], typer.Argument(metavar="TOPIC...", show_default=False)]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", metavar="KEY=VALUE", help="A setting; may be repeated."),
]


@app.command("list")
def list_command(
    ctx: typer.Context,
    internal: Annotated[bool, typer.Option("--internal", help="Also those of Kafka.")] = False,
    bootstrap_server: Bootstrap = None,
    as_json: Json = False,
) -> None:
    """Name every topic."""
    from penstock.cli.topic import list_topics

    topics = list_topics(cluster_of(ctx, bootstrap_server), internal=internal)
    if as_json:
        print_json(topics)
    else:
        columns = ("topic", "partitions", "replicas")
        print_table(columns, [[each[column] for column in columns] for each in topics])


@app.command("create")
def create_command(
    ctx: typer.Context,
    names: Names,
    partitions: Annotated[
        int, typer.Option("--partitions", "-p", help="How many [default: the broker's]")
    ] = -1,
    replication_factor: Annotated[
        int, typer.Option("--replication-factor", "-r", help="Copies [default: the broker's]")
    ] = -1,
    settings: Settings = None,
    if_not_exists: Annotated[bool, typer.Option("--if-not-exists")] = False,
    validate_only: Annotated[bool, typer.Option("--validate-only")] = False,
    bootstrap_server: Bootstrap = None,
    as_json: Json = False,
) -> None:
    """Create topics."""
    from penstock.cli.topic import create_topics

    created = create_topics(
        cluster_of(ctx, bootstrap_server),
        names,
        partitions=partitions,
        replication_factor=replication_factor,
        settings=key_values(settings or (), "--set"),
        if_not_exists=if_not_exists,
        validate_only=validate_only,
    )
    word = "valid" if validate_only else "created"
    if as_json:
        print_json({word: created, "existing": [each for each in names if each not in created]})
        return
    for name in names:
        print_line(f"{word} {name}" if name in created else f"{name} exists already")


@app.command("describe")
def describe_command(
    ctx: typer.Context, names: Names, bootstrap_server: Bootstrap = None, as_json: Json = False
) -> None:
    """Show partitions, offsets and the settings a topic has of its own."""
    from penstock.cli.topic import TopicState, describe_topics

    def show(state: TopicState) -> None:
        print_line(f"{state.topic}  {plural(len(state.partitions), 'partition')}, id {state.id}")
        for key, value in state.settings.items():
            print_line(f"  {key} = {value}")
        rows = [
            (
                each.partition,
                each.leader,
                ",".join(map(str, each.replicas)),
                ",".join(map(str, each.isr)),
                each.start_offset,
                each.end_offset,
            )
            for each in state.partitions
        ]
        print_table(("partition", "leader", "replicas", "isr", "start", "end"), rows)

    states = describe_topics(cluster_of(ctx, bootstrap_server), names)
    if as_json:
        print_json([state.document() for state in states])
        return
    for state in states:
        show(state)


@app.command("alter")
def alter_command(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="TOPIC", show_default=False)],
    partitions: Annotated[
        int | None, typer.Option("--partitions", "-p", help="The new number; it can only grow.")
    ] = None,
    settings: Settings = None,
    unset: Annotated[
        list[str] | None, typer.Option("--unset", "-u", metavar="KEY", help="Back to the default.")
    ] = None,
    bootstrap_server: Bootstrap = None,
    as_json: Json = False,
) -> None:
    """Add partitions, change settings."""
    if partitions is None and not settings and not unset:
        raise UsageFailure("nothing to alter: give --partitions, --set or --unset")
    from penstock.cli.config import alter_configs
    from penstock.cli.topic import add_partitions

    cluster, assign = cluster_of(ctx, bootstrap_server), key_values(settings or (), "--set")
    if assign or unset:
        alter_configs(cluster, "topic", name, assign=assign, remove=unset or ())
    if partitions is not None:
        add_partitions(cluster, name, partitions)
    if as_json:
        print_json({"altered": name, "partitions": partitions, "set": assign, "unset": unset or []})
    else:
        print_line(f"altered {name}")


@app.command("delete")
def delete_command(
    ctx: typer.Context,
    names: Names,
    if_exists: Annotated[bool, typer.Option("--if-exists")] = False,
    bootstrap_server: Bootstrap = None,
    as_json: Json = False,
) -> None:
    """Delete topics and their data, at once and for good."""
    from penstock.cli.topic import delete_topics

    deleted = delete_topics(cluster_of(ctx, bootstrap_server), names, if_exists=if_exists)
    if as_json:
        print_json({"deleted": deleted, "missing": [each for each in names if each not in deleted]})
        return
    for name in names:
        print_line(f"deleted {name}" if name in deleted else f"{name} does not exist")
