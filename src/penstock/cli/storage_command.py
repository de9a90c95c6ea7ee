"""`penstock storage`: what is typed, and what is printed. Nothing of it asks a broker."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.argument import quiet_app
from penstock.cli.help import PlainCommand
from penstock.cli.output import print_line

app = quiet_app("Data directories of a node: format, info, random-uuid.")

Config = Annotated[
    str,
    typer.Option(
        "--config", "-c", metavar="FILE", help="The node's settings, as for `penstock start`."
    ),
]


@app.command("format", cls=PlainCommand)
def format_command(
    config: Config,
    cluster_id: Annotated[
        str,
        typer.Option(
            "--cluster-id",
            "-t",
            metavar="ID",
            help="The cluster's id; the same on all of its nodes.",
        ),
    ],
    standalone: Annotated[
        bool, typer.Option("--standalone", "-s", help="This controller is the first, alone.")
    ] = False,
    initial_controllers: Annotated[
        str | None,
        typer.Option(
            "--initial-controllers",
            "-I",
            metavar="LIST",
            help="The first controllers: ID@HOST:PORT:DIRECTORY, separated by commas; the same on "
            "all nodes.",
        ),
    ] = None,
    no_initial_controllers: Annotated[
        bool,
        typer.Option(
            "--no-initial-controllers", "-N", help="Others are controllers; this node may join."
        ),
    ] = False,
    feature: Annotated[
        list[str] | None,
        typer.Option("--feature", "-f", metavar="NAME=LEVEL", help="The level of a feature."),
    ] = None,
    release_version: Annotated[
        str | None,
        typer.Option(
            "--release-version",
            "-r",
            metavar="RELEASE",
            show_default="4.3",
            help="The Kafka release whose features the cluster begins with.",
        ),
    ] = None,
    ignore_formatted: Annotated[
        bool,
        typer.Option(
            "--ignore-formatted", "-g", help="A directory that is formatted already is no error."
        ),
    ] = False,
    add_scram: Annotated[
        list[str] | None,
        typer.Option(
            "--add-scram",
            "-S",
            metavar="CREDENTIAL",
            help="A user to begin with: SCRAM-SHA-256=[name=alice,password=...].",
        ),
    ] = None,
) -> None:
    """Prepare the directories of a node for its first start.

    All of a cluster's nodes are formatted with the same id and features.
    """
    from penstock.cli.reference import resolved
    from penstock.cli.storage import format_lines

    users = [resolved({"user": text}, "--add-scram")["user"] for text in add_scram or ()]
    for line in format_lines(
        config,
        cluster_id,
        standalone=standalone,
        initial_controllers=initial_controllers,
        no_initial_controllers=no_initial_controllers,
        features=feature or (),
        release=release_version,
        ignore_formatted=ignore_formatted,
        users=users,
    ):
        print_line(line)


@app.command("info", cls=PlainCommand)
def info_command(config: Config) -> None:
    """Show what a node's directories are, and what is wrong with them."""
    from penstock.cli.storage import info_lines

    lines, well = info_lines(config)
    for line in lines:
        print_line(line)
    if not well:
        raise typer.Exit(1)


@app.command("random-uuid", cls=PlainCommand)
def random_uuid_command() -> None:
    """Print a new id, for a cluster or for a directory."""
    from penstock.cli.storage import new_uuid

    print_line(new_uuid())
