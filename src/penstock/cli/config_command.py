"""`penstock configs`: what is typed, and what is printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer

from penstock.cli.argument import Json, cluster_of, quiet_app
from penstock.cli.cluster import Cluster, key_values
from penstock.cli.failure import UsageFailure
from penstock.cli.output import print_json, print_line, print_table

app = quiet_app("Settings of topics and brokers: list, describe, set, unset.")


class Kind(StrEnum):
    topic = "topic"
    broker = "broker"


KindArgument = Annotated[Kind, typer.Argument(metavar="topic|broker", show_default=False)]
Name = Annotated[
    str,
    typer.Argument(metavar="NAME", show_default=False, help="A topic, or a broker's id."),
]
ChangedName = Annotated[
    str,
    typer.Argument(
        metavar="NAME", show_default=False, help="A topic, a broker's id, or `all` brokers."
    ),
]
ALL = "all"


@app.command("list")
def list_command(ctx: typer.Context, as_json: Json = False) -> None:
    """Show every topic and broker that has settings of its own."""
    settings = _own_settings(cluster_of(ctx))
    if as_json:
        print_json(settings)
        return
    rows = [
        (each["kind"], each["name"], key, value)
        for each in settings
        for key, value in each["settings"].items()
    ]
    print_table(("kind", "name", "setting", "value"), rows)


def _own_settings(cluster: Cluster) -> list[dict[str, Any]]:
    from confluent_kafka.admin import ConfigResource

    from penstock.cli.config import describe_configs

    metadata = cluster.metadata()
    topics = [ConfigResource("topic", name) for name in sorted(metadata.topics)]
    described = describe_configs(cluster, topics) if topics else {}
    for broker in sorted(metadata.brokers):
        # Each broker answers for itself: one request each.
        described |= describe_configs(cluster, [ConfigResource("broker", str(broker))])
    return [
        {
            "kind": resource.restype.name.lower(),
            "name": resource.name,
            "settings": {each.name: each.value for each in entries if each.own},
        }
        for resource, entries in described.items()
        if any(each.own for each in entries)
    ]


@app.command("describe")
def describe_command(
    ctx: typer.Context,
    kind: KindArgument,
    name: Name,
    own: Annotated[bool, typer.Option("--own", help="Only what is set, no defaults.")] = False,
    as_json: Json = False,
) -> None:
    """Show the settings in force, and where each value comes from."""
    from confluent_kafka.admin import ConfigResource

    from penstock.cli.config import describe_configs

    cluster = cluster_of(ctx)
    resource = ConfigResource(kind.value, _resource_name(cluster, kind, name))
    described = describe_configs(cluster, [resource])
    (entries,) = described.values()
    shown = [each for each in entries if each.own or not own]
    if as_json:
        print_json([each.document() for each in shown])
    else:
        rows = [
            (each.name, "(hidden)" if each.sensitive else each.value, each.source) for each in shown
        ]
        print_table(("setting", "value", "from"), rows)


@app.command("set")
def set_command(
    ctx: typer.Context,
    kind: KindArgument,
    name: ChangedName,
    pairs: Annotated[list[str], typer.Argument(metavar="KEY=VALUE...", show_default=False)],
    as_json: Json = False,
) -> None:
    """Change settings; those not named stay as they are."""
    assign = key_values(pairs, "`configs set`")
    if kind is Kind.broker:
        _check_names(assign)
    _alter(cluster_of(ctx), kind, name, assign, ())
    if as_json:
        print_json({"kind": kind.value, "name": name, "set": assign})
        return
    for key, value in assign.items():
        print_line(f"{kind.value} {name}: {key} = {value}")


@app.command("unset")
def unset_command(
    ctx: typer.Context,
    kind: KindArgument,
    name: ChangedName,
    keys: Annotated[list[str], typer.Argument(metavar="KEY...", show_default=False)],
    as_json: Json = False,
) -> None:
    """Let settings fall back to their defaults."""
    _alter(cluster_of(ctx), kind, name, {}, keys)
    if as_json:
        print_json({"kind": kind.value, "name": name, "unset": keys})
        return
    for key in keys:
        print_line(f"{kind.value} {name}: {key} is back to its default")


def _alter(
    cluster: Cluster, kind: Kind, name: str, assign: Mapping[str, str], remove: Sequence[str]
) -> None:
    if kind is Kind.broker and name == ALL:
        # The library cannot name the settings of all brokers at once.
        from penstock.cli.operator.link import Link
        from penstock.cli.operator.setting import alter_all_brokers

        alter_all_brokers(Link(cluster), {**assign, **dict.fromkeys(remove)})
        return
    from penstock.cli.config import alter_configs

    resource_name = _resource_name(cluster, kind, name)
    alter_configs(cluster, kind.value, resource_name, assign=assign, remove=remove)


def _check_names(assign: Mapping[str, str]) -> None:
    """A broker keeps what it does not know, for plug-ins; here it is a typing error."""
    from penstock.settings.broker import find_broker_key, unknown_name

    for name in assign:
        if find_broker_key(name) is None:
            raise UsageFailure(f"unknown setting {unknown_name(name)}")


def _resource_name(cluster: Cluster, kind: Kind, name: str) -> str:
    if kind is Kind.topic:
        return name
    if not (name.isascii() and name.isdecimal()):
        raise UsageFailure(f"a broker is named by its number, not {name!r}")
    from penstock.cli.config import check_broker

    check_broker(cluster, name)
    return str(int(name))
