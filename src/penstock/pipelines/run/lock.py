"""One run of a pipeline in one directory: a lock that ends with the process, however it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from penstock.pipelines.error import AlreadyRunningError


class RunLock:
    def __init__(self, home: Path, pipeline: str) -> None:
        self._path = home / "lock"
        self._pipeline = pipeline
        self._file: int | None = None

    def acquire(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(file, 32, 0).decode(errors="replace").strip()
            os.close(file)
            raise AlreadyRunningError(
                f"{self._pipeline} runs already in {self._path.parent} (process {holder}):"
                f" stop it with `penstock pipeline stop {self._pipeline}`"
            ) from error
        os.ftruncate(file, 0)
        os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        self._file = file

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def lock_holder(home: Path) -> int | None:
    """The process that runs the pipeline there, if one does."""
    try:
        file = os.open(home / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except BlockingIOError:
        said = os.pread(file, 32, 0).decode(errors="replace").strip()
        return int(said) if said.isdecimal() else None
    finally:
        os.close(file)
