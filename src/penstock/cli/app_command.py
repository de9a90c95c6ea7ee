"""`penstock app`: what is typed, and what is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.argument import cluster_of, names_cluster, quiet_app
from penstock.cli.cluster import parse_address
from penstock.cli.failure import Failure, UsageFailure

if TYPE_CHECKING:
    from penstock.client.app.app import App

app = quiet_app("Applications: consumers as functions.")


@app.command("run")
def run_command(
    ctx: typer.Context,
    names: Annotated[
        list[str],
        typer.Argument(metavar="APP...", show_default=False, help="module:name, or file.py:name."),
    ],
    metrics: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve /metrics for Prometheus and /healthz here."),
    ] = None,
) -> None:
    """Run applications in the foreground, in one process.

    Ctrl-C or SIGTERM ends them: what is under way is finished and committed.
    """
    from penstock.client.app.app import run_apps
    from penstock.client.error import ClientError
    from penstock.telemetry.log import configure

    configure()
    apps = [find_app(each) for each in names]
    cluster = cluster_of(ctx)
    for each in apps:
        if each.bootstrap_servers is None or names_cluster(ctx):
            each.bootstrap_servers = cluster.bootstrap_servers
        each.settings |= cluster.given_settings
    try:
        run_apps(apps, None if metrics is None else parse_address(metrics))
    except ClientError as error:
        raise Failure(str(error)) from error


def find_app(name: str) -> App:
    """`module:name` or `file.py:name`; the name may go if there is one application."""
    from penstock.client.app.app import App
    from penstock.client.error import ClientError
    from penstock.client.user_module import load_module

    where, _, attribute = name.partition(":")
    try:
        module = load_module(where, ClientError)
    except ClientError as error:
        raise UsageFailure(str(error)) from error
    declared = {key: each for key, each in vars(module).items() if isinstance(each, App)}
    if attribute in declared:
        return declared[attribute]
    known = f"it has {', '.join(declared)}" if declared else "it declares none"
    if attribute:
        raise UsageFailure(f"{where} has no application {attribute}: {known}")
    if len(declared) != 1:
        raise UsageFailure(f"say which application of {where} to run: {known}")
    return next(iter(declared.values()))
