"""Options that many commands share, and the cluster they name."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.cluster import Cluster


def quiet_app(help_text: str) -> typer.Typer:
    """Plain help: a person's terminal and a pipe see the same, and rich is not imported for it."""
    return typer.Typer(
        help=help_text,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


Bootstrap = Annotated[
    str | None,
    typer.Option("--bootstrap-server", "-b", metavar="HOST:PORT", help="The cluster to talk to."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def cluster_of(ctx: typer.Context, bootstrap_server: str | None) -> Cluster:
    """The nearest -b wins: after the command, before it, the environment, the default."""
    root = ctx.find_root().params
    return Cluster(
        bootstrap_server or root.get("bootstrap_server"),
        timeout_s=root.get("timeout") or 10.0,
        client_settings=root.get("client_setting") or (),
    )
