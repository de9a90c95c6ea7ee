"""`penstock topics`: what is typed, and what is printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.argument import PARTITIONS_MAX, SHORT_MAX, Json, cluster_of, quiet_app
from penstock.cli.cluster import Cluster, key_values
from penstock.cli.completion import complete_topics
from penstock.cli.failure import UsageFailure
from penstock.cli.output import plural, print_json, print_line, print_table
from penstock.cli.repartition.command import repartition

if TYPE_CHECKING:
    from penstock.cli.operator.health import Fault

"""As many as librdkafka asks for."""

app = quiet_app("Topics: list, create, describe, alter, repartition, delete.")

NewNames = Annotated[
    list[str], typer.Argument(metavar="TOPIC", show_default=False, help="Names of new topics.")
]
Names = Annotated[
    list[str],
    typer.Argument(
        metavar="TOPIC",
        show_default=False,
        help="Names of topics.",
        autocompletion=complete_topics,
    ),
]
OptionalNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TOPIC",
        show_default=False,
        help="Names of topics; of all, if what is wrong is asked for.",
        autocompletion=complete_topics,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", metavar="KEY=VALUE", help="Set a topic setting."),
]


@app.command("list")
def list_command(
    ctx: typer.Context,
    internal: Annotated[bool, typer.Option("--internal", help="Also internal topics.")] = False,
    as_json: Json = False,
) -> None:
    """List the topics."""
    from penstock.cli.topic import list_topics

    topics = list_topics(cluster_of(ctx), internal=internal)
    if as_json:
        print_json(topics)
    else:
        columns = ("topic", "partitions", "replicas")
        print_table(columns, [[each[column] for column in columns] for each in topics])


@app.command("create")
def create_command(
    ctx: typer.Context,
    names: NewNames,
    partitions: Annotated[
        int,
        typer.Option(
            "--partitions",
            "-p",
            metavar="N",
            min=-1,
            max=PARTITIONS_MAX,
            show_default="the broker's",
            help="How many partitions.",
        ),
    ] = -1,
    replication_factor: Annotated[
        int,
        typer.Option(
            "--replication-factor",
            "-r",
            metavar="N",
            min=-1,
            max=SHORT_MAX,
            show_default="the broker's",
            help="How many replicas.",
        ),
    ] = -1,
    settings: Settings = None,
    if_not_exists: Annotated[
        bool, typer.Option("--if-not-exists", help="A topic that exists is no error.")
    ] = False,
    validate_only: Annotated[
        bool, typer.Option("--validate-only", help="Check the request; create nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Create topics."""
    from penstock.cli.topic import create_topics

    created = create_topics(
        cluster_of(ctx),
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
    ctx: typer.Context,
    names: OptionalNames = None,
    under_replicated: Annotated[
        bool, typer.Option("--under-replicated", help="Only partitions with replicas not in sync.")
    ] = False,
    under_min_isr: Annotated[
        bool, typer.Option("--under-min-isr", help="Only those that take no acks=all writes.")
    ] = False,
    at_min_isr: Annotated[
        bool, typer.Option("--at-min-isr", help="Only those that take none with one replica less.")
    ] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="Only partitions without a leader.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show a topic's partitions, offsets and own settings, or what is wrong with partitions."""
    from penstock.cli.operator.health import Fault
    from penstock.cli.topic import TopicState, describe_topics

    asked = {
        Fault.under_replicated: under_replicated,
        Fault.under_min_isr: under_min_isr,
        Fault.at_min_isr: at_min_isr,
        Fault.offline: offline,
    }
    if any(asked.values()):
        _show_faults(cluster_of(ctx), names or (), [each for each in asked if asked[each]], as_json)
        return
    if not names:
        raise UsageFailure("name a topic, or ask for what is wrong, such as --under-replicated")

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

    states = describe_topics(cluster_of(ctx), names)
    if as_json:
        print_json([state.document() for state in states])
        return
    for state in states:
        show(state)


def _show_faults(
    cluster: Cluster, names: Sequence[str], faults: Sequence[Fault], as_json: bool
) -> None:
    from penstock.cli.topic_fault import find_topic_faults

    found = find_topic_faults(cluster, names, faults)
    if as_json:
        print_json([each.document() for each in found])
    elif found:
        rows = [
            (
                str(each.place),
                each.leader,
                ",".join(map(str, each.replicas)),
                ",".join(map(str, each.isr)),
                each.min_isr,
            )
            for each in found
        ]
        print_table(("partition", "leader", "replicas", "isr", "min isr"), rows)
    else:
        print_line(f"no partition is {' or '.join(faults)}")


@app.command("alter")
def alter_command(
    ctx: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="TOPIC",
            show_default=False,
            help="Name of the topic.",
            autocompletion=complete_topics,
        ),
    ],
    partitions: Annotated[
        int | None,
        typer.Option(
            "--partitions",
            "-p",
            metavar="N",
            min=1,
            max=PARTITIONS_MAX,
            help="The new number of partitions. It can only grow.",
        ),
    ] = None,
    settings: Settings = None,
    unset: Annotated[
        list[str] | None,
        typer.Option("--unset", "-u", metavar="KEY", help="Return a setting to its default."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Add partitions also to a topic with keys.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Add partitions or change settings.

    More partitions move keys: new records of a key may go to another partition than its old ones,
    and are then read in no certain order with them.
    """
    if partitions is None and not settings and not unset:
        raise UsageFailure("nothing to alter: give --partitions, --set or --unset")
    from penstock.cli.config import alter_configs
    from penstock.cli.key_sample import check_keys
    from penstock.cli.topic import add_partitions

    cluster, assign = cluster_of(ctx), key_values(settings or (), "--set")
    if partitions is not None and not yes:
        check_keys(cluster, name)
    if assign or unset:
        alter_configs(cluster, "topic", name, assign=assign, remove=unset or ())
    if partitions is not None:
        add_partitions(cluster, name, partitions)
    if as_json:
        print_json({"altered": name, "partitions": partitions, "set": assign, "unset": unset or []})
    else:
        print_line(f"altered {name}")


app.command("repartition")(repartition)


@app.command("delete")
def delete_command(
    ctx: typer.Context,
    names: Names,
    if_exists: Annotated[
        bool, typer.Option("--if-exists", help="A topic that does not exist is no error.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Delete topics and their data for good."""
    from penstock.cli.topic import delete_topics

    deleted = delete_topics(cluster_of(ctx), names, if_exists=if_exists)
    if as_json:
        print_json({"deleted": deleted, "missing": [each for each in names if each not in deleted]})
        return
    for name in names:
        print_line(f"deleted {name}" if name in deleted else f"{name} does not exist")
