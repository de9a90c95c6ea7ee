"""One flusher for each data directory: a disk that is slow or hangs holds up no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from penstock.storage.flush.flusher import Flusher
from penstock.storage.log import Log


class DirectoryFlushers:
    """As one `Flusher` over all of them."""

    def __init__(self, paths: Iterable[str], build: Callable[[], Flusher]) -> None:
        self._by_path = {path: build() for path in paths}

    def start(self) -> None:
        for each in self._by_path.values():
            each.start()

    def request(self, log: Log) -> None:
        self._by_path[log.directory.rpartition("/")[0]].request(log)

    def close(self) -> None:
        for each in self._by_path.values():
            each.close()
