"""A power failure: a node loses what its disk had not been told to keep.

`keep_synced_sizes` is called in a node's process before it starts (`Cluster(prepare=...)`). From
then on it is known of every log file how much of it was synced. `fail` cuts the files of a node
that was killed down to that. Names of files count as kept.
"""

from __future__ import annotations

import os
from pathlib import Path

from penstock.storage.disk import RealDisk

PREPARE = "tools.cluster_chaos.power:keep_synced_sizes"
_SUFFIX = ".log"
_SIZE_BYTES = 8


def keep_synced_sizes() -> None:
    sync = RealDisk.fdatasync
    notes: dict[str, int] = {}

    def noted_sync(fd: int) -> None:
        # Before: what is written meanwhile may or may not be part of it.
        size = os.fstat(fd).st_size
        sync(fd)
        path = os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115
        if path.endswith(_SUFFIX):
            os.pwrite(_note(Path(path), notes), size.to_bytes(_SIZE_BYTES), 0)

    RealDisk.fdatasync = staticmethod(noted_sync)


def _note(log: Path, notes: dict[str, int]) -> int:
    if str(log) not in notes:
        path = _note_of(log)
        path.parent.mkdir(parents=True, exist_ok=True)
        notes[str(log)] = os.open(path, os.O_WRONLY | os.O_CREAT)
    return notes[str(log)]


def _note_of(log: Path) -> Path:
    """Outside of the node's directory, which is its own."""
    home = log.parent.parent
    return home.with_name(home.name + ".synced") / log.parent.name / log.name


def fail(data_dir: Path) -> int:
    """How many bytes went."""
    lost = 0
    for log in data_dir.glob(f"*/*{_SUFFIX}"):
        note = _note_of(log)
        kept = int.from_bytes(note.read_bytes()) if note.exists() else 0
        size = log.stat().st_size
        if size > kept:
            os.truncate(log, kept)
            lost += size - kept
    return lost
