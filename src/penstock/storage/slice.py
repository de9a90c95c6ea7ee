"""A stretch of a segment file on its way to a socket."""

from __future__ import annotations

from penstock.storage.disk import Disk
from penstock.storage.file_cache import CachedFile


class FileSlice:
    """Keeps its file open until released, even when the segment is deleted meanwhile."""

    __slots__ = ("_file", "disk", "fd", "length", "position")

    def __init__(self, disk: Disk, file: CachedFile, position: int, length: int) -> None:
        self.disk = disk
        self._file: CachedFile | None = None
        self.fd = file.pin()
        self._file = file
        self.position = position
        self.length = length

    def __len__(self) -> int:
        return self.length

    def read(self) -> bytes:
        return self.disk.pread(self.fd, self.length, self.position)

    def release(self) -> None:
        """Call when sent; a second call does nothing."""
        file, self._file = self._file, None
        if file is not None:
            file.unpin()

    def __enter__(self) -> FileSlice:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()
