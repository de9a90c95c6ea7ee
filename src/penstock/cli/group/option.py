"""Arguments and options that several commands about groups take."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from penstock.cli.failure import UsageFailure


def complete_groups(ctx: Any, incomplete: str) -> list[str]:
    from penstock.cli.argument import cluster_of
    from penstock.cli.group.reader import ClusterReader
    from penstock.cli.operator.link import Link

    try:
        cluster = cluster_of(ctx)
        cluster.timeout_s = min(cluster.timeout_s, 1.0)
        with ClusterReader(Link(cluster)) as reader:
            names = [each.name for each in reader.listed()]
    except Exception:
        return []
    return [each for each in names if each.startswith(incomplete)]


GroupName = Annotated[
    str,
    typer.Argument(
        metavar="GROUP",
        show_default=False,
        help="Name of the group.",
        autocompletion=complete_groups,
    ),
]
Interval = Annotated[
    float, typer.Option("--interval", "-i", metavar="SECONDS", help="Between two looks.")
]
Count = Annotated[
    int, typer.Option("--count", "-n", metavar="N", help="Looks; 0 goes on until Ctrl-C.")
]


def check_pace(interval: float, count: int) -> None:
    if not interval > 0 or count < 0:
        raise UsageFailure("--interval takes seconds above 0, --count 0 or more")
