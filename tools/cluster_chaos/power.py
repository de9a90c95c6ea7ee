"""A power failure: a node loses what its disk had not been told to keep.

`keep_synced_sizes` is called in a node's process before it starts (`Cluster(prepare=...)`). From
then on it is known of every log file how much of it was synced. `fail` cuts the files of a node
that was killed down to that. Names of files count as kept.
"""

from __future__ import annotations

import os
from pathlib import Path

from penstock.storage.disk import RealDisk
from penstock.storage.flush import loop_sync
from penstock.storage.flush.loop_sync import FileSync

PREPARE = "tools.cluster_chaos.power:keep_synced_sizes"
_SUFFIX = ".log"
_SIZE_BYTES = 8


def keep_synced_sizes() -> None:
    sync = os.fdatasync
    notes: dict[str, int] = {}

    def noted_sync(fd: int) -> None:
        # Before: what is written meanwhile may or may not be part of it.
        size = os.fstat(fd).st_size
        sync(fd)
        _keep(fd, size, notes)

    os.fdatasync = noted_sync  # type: ignore[assignment]
    RealDisk.fdatasync = staticmethod(noted_sync)
    by_kernel = loop_sync.kernel_sync
    loop_sync.kernel_sync = lambda: _NotedSync(by_kernel(), notes)


class _NotedSync:
    """What was synced is noted before the node hears of it."""

    def __init__(self, files: FileSync, notes: dict[str, int]) -> None:
        self._files = files
        self._notes = notes
        self._sizes: list[tuple[int, int]] = []
        self.fileno, self.wait, self.close = files.fileno, files.wait, files.close

    def begin(self, fds: list[int]) -> None:
        self._sizes = [(fd, os.fstat(fd).st_size) for fd in fds]
        self._files.begin(fds)

    def take(self) -> list[int] | None:
        codes = self._files.take()
        for (fd, size), code in zip(self._sizes, codes or (), strict=False):
            if not code:
                _keep(fd, size, self._notes)
        return codes


def _keep(fd: int, size: int, notes: dict[str, int]) -> None:
    path = os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115
    if path.endswith(_SUFFIX):
        os.pwrite(_note(Path(path), notes), size.to_bytes(_SIZE_BYTES), 0)


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
