"""Options that several of the operator's commands take."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan and change nothing.")]


def complete_brokers(ctx: Any, incomplete: str) -> list[str]:
    from penstock.cli.argument import cluster_of

    try:
        cluster = cluster_of(ctx)
        cluster.timeout_s = min(cluster.timeout_s, 1.0)
        ids = sorted(cluster.metadata().brokers)
    except Exception:
        return []
    return [str(each) for each in ids if str(each).startswith(incomplete)]
