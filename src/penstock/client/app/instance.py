"""The name under which a process is a static member of its groups.

The host's name and the lowest number that no other process of the application has on this host:
whoever is started again within the session time-out gets the number that became free, and its
partitions back without a rebalance. The number is a locked file, free as soon as its process ends.
"""

from __future__ import annotations

import fcntl
import os
import re
import socket
import tempfile
from pathlib import Path

from penstock.client.error import DeclarationError

NUMBERS_MAX = 1000


class Instance:
    def __init__(self, app: str, folder: Path | None = None) -> None:
        home = folder or Path(tempfile.gettempdir()) / f"penstock-apps-{os.getuid()}"
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        plain = re.sub(r"[^\w.-]", "_", app)
        self._descriptor, number = _lock_one(home, plain)
        self.name = f"{plain}-{socket.gethostname()}-{number}"

    def close(self) -> None:
        os.close(self._descriptor)


def _lock_one(home: Path, app: str) -> tuple[int, int]:
    for number in range(NUMBERS_MAX):
        descriptor = os.open(home / f"{app}-{number}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor, number
        except BlockingIOError:
            os.close(descriptor)
    raise DeclarationError(f"{NUMBERS_MAX} processes of {app} run on this host already")
