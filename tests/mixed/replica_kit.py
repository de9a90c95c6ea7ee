"""The logs of all replicas of a partition, as the nodes that hold them have them on disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def log_bytes(data_dir: Path, topic: str, index: int) -> bytes:
    segments = sorted((data_dir / f"{topic}-{index}").glob("*.log"))
    return b"".join(one.read_bytes() for one in segments)


def held(homes: Mapping[int, Path], topic: str, index: int) -> dict[int, bytes]:
    """By node, for those that have a replica."""
    return {
        number: log_bytes(home, topic, index)
        for number, home in homes.items()
        if (home / f"{topic}-{index}").exists()
    }


def difference(replicas: Mapping[int, bytes]) -> str | None:
    """Where the first two part, if they do."""
    (first, expected), *rest = replicas.items()
    for number, found in rest:
        if found != expected:
            at = next(
                (i for i, (a, b) in enumerate(zip(expected, found, strict=False)) if a != b),
                min(len(expected), len(found)),
            )
            sizes = f"{len(expected)} and {len(found)} bytes"
            return f"nodes {first} and {number} part at byte {at} of {sizes}"
    return None
