"""Ids of log directories, and those that stand for no directory in particular (KIP-858)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

DirectoryId = bytes
"""Sixteen raw bytes, as on the wire."""

MIGRATING: Final[DirectoryId] = bytes(16)
"""Of a replica whose directory was never told: it counts as there."""
UNASSIGNED: Final[DirectoryId] = bytes(15) + b"\x01"
"""Of a new replica that its broker has not put anywhere yet."""
LOST: Final[DirectoryId] = bytes(15) + b"\x02"
"""Of a replica in a directory that failed."""

NOWHERE: Final = (MIGRATING, UNASSIGNED, LOST)


def is_online(directory: DirectoryId, online: Collection[DirectoryId]) -> bool:
    """`online` are those that the broker names; one that names none is not asked."""
    return not online or directory in online or directory in (MIGRATING, UNASSIGNED)
