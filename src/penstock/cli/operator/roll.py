"""In which order nodes are restarted, and what speaks against the next restart. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.cli.operator.state import ClusterState, QuorumState, name_some
from penstock.cli.output import plural

_LEVEL_S = 10.0
"""A voter that has not been level with the leader for longer would be missed."""


def roll_order(
    brokers: Iterable[int], quorum: QuorumState | None, only: Iterable[int] = ()
) -> list[int]:
    """Brokers, then controllers that are no brokers, and the active controller last: so there is
    one change of controllers, not one with each node."""
    own = set(brokers)
    voters = {each.id for each in quorum.voters} if quorum is not None else set()
    active = quorum.leader if quorum is not None else None
    wanted = set(only) or own | voters
    return sorted((own | voters) & wanted, key=lambda node: (node == active, node not in own, node))


def objections(state: ClusterState, quorum: QuorumState | None, now_ms: int) -> list[str]:
    """Why no node may be restarted now; each says what is waited for."""
    found = []
    down = [each.id for each in state.brokers.values() if each.fenced]
    if down:
        found.append(f"broker {name_some(sorted(down))} is down")
    lacking: dict[int, int] = {}
    for each in state.partitions.values():
        for broker in each.lagging:
            lacking[broker] = lacking.get(broker, 0) + 1
    lagging = [each for each in state.partitions.values() if each.lagging]
    if lagging:
        places = name_some(sorted(each.place for each in lagging))
        of = ", ".join(f"{count} of broker {broker}" for broker, count in sorted(lacking.items()))
        found.append(f"{plural(sum(lacking.values()), 'replica')} not in sync ({of}): {places}")
    leaderless = [each.place for each in state.partitions.values() if each.leader is None]
    if leaderless:
        found.append(f"no leader of {name_some(sorted(leaderless))}")
    return found + _quorum_objections(quorum, now_ms)


def _quorum_objections(quorum: QuorumState | None, now_ms: int) -> list[str]:
    if quorum is None:
        return ["no active controller"]
    behind = []
    for each in quorum.voters:
        seconds = quorum.behind_s(each, now_ms)
        if seconds is None or seconds > _LEVEL_S:
            behind.append(each.id)
    return [f"controller {name_some(behind)} is behind its leader"] if behind else []


def single_replicas(state: ClusterState) -> list[str]:
    """Topics of which a partition is away while its only broker restarts."""
    return sorted(
        {each.place.topic for each in state.partitions.values() if len(each.replicas) == 1}
    )


def unwritable(state: ClusterState, min_isr: Mapping[str, int]) -> list[str]:
    """Topics that take no acks=all writes while one of their brokers restarts."""
    return sorted(
        {
            each.place.topic
            for each in state.partitions.values()
            if 1 < len(each.replicas) <= min_isr.get(each.place.topic, 1)
        }
    )
