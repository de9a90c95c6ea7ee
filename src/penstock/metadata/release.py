"""Releases of Apache Kafka and what a cluster of each begins with: its metadata level, the levels
of its features.

Knows what each release chose, and nothing of what is served here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from penstock.metadata.version import METADATA_LEVEL_MIN, METADATA_VERSION

KRAFT_VERSION: Final = "kraft.version"

_NAMES: Final = (
    "3.7-IV2",
    "3.7-IV3",
    "3.7-IV4",
    "3.8-IV0",
    "3.9-IV0",
    "4.0-IV0",
    "4.0-IV1",
    "4.0-IV2",
    "4.0-IV3",
    "4.1-IV0",
    "4.1-IV1",
    "4.2-IV0",
    "4.2-IV1",
    "4.3-IV0",
)
RELEASES: Final[Mapping[int, str]] = dict(enumerate(_NAMES, METADATA_LEVEL_MIN))
"""By metadata level."""

FEATURE_LEVEL_MAX: Final[Mapping[str, int]] = {
    "eligible.leader.replicas.version": 1,
    "group.version": 1,
    KRAFT_VERSION: 1,
    "share.version": 1,
    "streams.version": 1,
    "transaction.version": 2,
}

NEEDED_LEVEL: Final[Mapping[str, int]] = {"eligible.leader.replicas.version": 23}
"""Below this metadata level a feature has to stay off."""

_ON_FROM: Final[Mapping[str, int]] = {
    "eligible.leader.replicas.version": 26,
    "group.version": 22,
    "share.version": 28,
    "streams.version": 29,
    "transaction.version": 24,
}


def level_of_release(text: str) -> int | None:
    """The metadata level of `4.3-IV0`, or the last of `4.3` and `4.3.1`; None for no release."""
    match = re.fullmatch(r"(\d+\.\d+)(?:\.\d+)?(-IV\d+)?", text, re.ASCII)
    if match is None:
        return None
    name = f"{match[1]}{match[2] or '-IV'}"
    found = [level for level, known in RELEASES.items() if _is_named(known, name)]
    return max(found, default=None)


def _is_named(known: str, name: str) -> bool:
    return known.startswith(name) if name.endswith("-IV") else known == name


def feature_default(name: str, metadata_level: int) -> int:
    """The level with which a cluster of that release begins. Not of `kraft.version`, which follows
    from how voters are named."""
    return FEATURE_LEVEL_MAX[name] if metadata_level >= _ON_FROM[name] else 0


def recorded_features(levels: Mapping[str, int]) -> list[tuple[str, int]]:
    """What is written of the features, in Kafka's order: not those that are off, and never
    `kraft.version`, which has a control record of its own."""
    others = sorted(set(levels) - {METADATA_VERSION, KRAFT_VERSION})
    return [
        (METADATA_VERSION, levels[METADATA_VERSION]),
        *((name, levels[name]) for name in others if levels[name]),
    ]
