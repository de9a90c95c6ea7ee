"""The throttle of moves, set and taken away as kafka-reassign-partitions does.

The rate is a setting of every broker that takes part; which replicas it holds for is a setting of
each topic: those that are read from (all that were there before), those that are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from penstock.cli.failure import UsageFailure
from penstock.cli.operator.link import Link
from penstock.cli.operator.plan import Move
from penstock.cli.operator.setting import Change, alter_settings, own_topic_settings

RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
LEADERS = "leader.replication.throttled.replicas"
FOLLOWERS = "follower.replication.throttled.replicas"
_ALL = "*"
"""Somebody throttles a topic for good: no business of a move."""

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def parse_rate(text: str) -> int | None:
    """Bytes a second, with K, M or G; None for `none`."""
    if text.strip().lower() == "none":
        return None
    match = re.fullmatch(
        r"([0-9]+(?:\.[0-9]+)?) ?([KMG]?)(?:i?B)?(?:/s)?", text.strip(), re.IGNORECASE
    )
    rate = int(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    if not 0 < rate < 1 << 63:
        raise UsageFailure(f"--throttle takes bytes a second such as 50M, or none, not {text!r}")
    return rate


def throttle_changes(moves: Iterable[Move], rate: int) -> list[Change]:
    """Moves that only change the order or take replicas away copy nothing."""
    leaders: dict[str, list[str]] = {}
    followers: dict[str, list[str]] = {}
    brokers: set[int] = set()
    for move in moves:
        if not move.adding:
            continue
        topic, partition = move.place
        leaders.setdefault(topic, []).extend(f"{partition}:{each}" for each in move.before)
        followers.setdefault(topic, []).extend(f"{partition}:{each}" for each in move.adding)
        brokers.update(move.before, move.adding)
    changes = [Change(broker, name, str(rate)) for broker in sorted(brokers) for name in RATES]
    for name, replicas in ((LEADERS, leaders), (FOLLOWERS, followers)):
        changes += [Change(topic, name, ",".join(each)) for topic, each in replicas.items()]
    return changes


def throttled_topics(link: Link, topics: Iterable[str]) -> list[str]:
    names = sorted(set(topics))
    found: set[str] = set()
    for setting in (LEADERS, FOLLOWERS):
        own = own_topic_settings(link, names, setting)
        found.update(topic for topic, value in own.items() if value != _ALL)
    return sorted(found)


def remove_throttle(link: Link, topics: Iterable[str], brokers: Iterable[int]) -> None:
    changes = [Change(topic, name, None) for topic in topics for name in (LEADERS, FOLLOWERS)]
    changes += [Change(broker, name, None) for broker in brokers for name in RATES]
    alter_settings(link, changes)
