"""What the shell offers on Tab: names of topics and profiles.

Pressing Tab never prints an error: where a cluster does not answer soon, nothing is offered.
"""

from __future__ import annotations

from typing import Any, NamedTuple

_WAIT_S = 1.0


class Offer(NamedTuple):
    """One word for the shell, as typer's own items have it."""

    value: str
    type: str = "plain"
    help: str | None = None


def complete_topics(ctx: Any, incomplete: str) -> list[str]:
    from penstock.cli.argument import cluster_of
    from penstock.cli.topic import topic_names

    try:
        cluster = cluster_of(ctx)
        cluster.timeout_s = min(cluster.timeout_s, _WAIT_S)
        names = topic_names(cluster, internal=incomplete.startswith("_"))
    except Exception:
        return []
    return [each for each in names if each.startswith(incomplete)]


def complete_profiles(incomplete: str) -> list[str]:
    from penstock.cli.profile import read_profiles

    try:
        names = sorted(read_profiles().by_name)
    except Exception:
        return []
    return [each for each in names if each.startswith(incomplete)]
