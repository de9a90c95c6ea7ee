"""Records kept in files until they can be sent: appended at the end, taken from the beginning.

A folder of segments, each a row of frames, and a file that says how far sending has come. A segment
goes when all of it was sent. One process at a time has a folder. Safe for several threads.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from penstock.client.error import DeclarationError, DeliveryError
from penstock.client.sender.record import Record, decode_frame, encode_frame
from penstock.client.session import LOG

_SEGMENTS = 16
"""About so many share the room there is."""
_SEGMENT_BYTES_MIN = 64 * 1024


class SpoolFullError(DeliveryError):
    """There is no room for the record, neither here nor at the broker."""


class Place(NamedTuple):
    segment: int
    byte: int


class SpoolFiles:
    def __init__(self, folder: Path, bytes_max: int, *, sync: bool) -> None:
        self._folder = folder
        self._bytes_max = bytes_max
        self._segment_bytes = max(_SEGMENT_BYTES_MIN, bytes_max // _SEGMENTS)
        self._sync = sync
        self._lock = threading.Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._claim = _claimed(folder)
        except OSError as error:
            raise DeclarationError(f"no spool in {folder}: {error}") from error
        self._sizes = {
            int(each.stem): each.stat().st_size for each in sorted(folder.glob("*.spool"))
        }
        self._keep_place(self._read_place())
        self._mend_tail()

    # --- what is in it -----------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        with self._lock:
            return self._start == self._end()

    @property
    def bytes_kept(self) -> int:
        """Of the files; what was sent of the first is among them."""
        return sum(self._sizes.values())

    @property
    def bytes_unsent(self) -> int:
        return self.bytes_kept - self._start.byte

    def _end(self) -> Place:
        last = max(self._sizes, default=self._start.segment)
        return Place(last, self._sizes.get(last, self._start.byte))

    # --- at the end --------------------------------------------------------------------------

    def append(self, records: Sequence[Record]) -> None:
        """All of them, on the disk when it returns; or none, and it raises."""
        frames = b"".join(map(encode_frame, records))
        with self._lock:
            if self.bytes_kept + len(frames) > self._bytes_max:
                raise SpoolFullError(
                    f"{records[0].topic}: writes are refused, and {self._folder} is full"
                    f" ({self._bytes_max} bytes)"
                )
            try:
                self._write(frames)
            except OSError as error:
                raise SpoolFullError(f"{records[0].topic}: {self._folder}: {error}") from error

    def _write(self, frames: bytes) -> None:
        segment, size = self._end()
        if size >= self._segment_bytes:
            segment, size = segment + 1, 0
        # Without a buffer, which would keep what a full disk has refused and write it later.
        with open(self._path(segment), "ab", buffering=0) as file:
            try:
                # What an earlier failure has left, if not even that could be cut off then.
                file.truncate(size)
                _write_all(file.fileno(), frames)
                if self._sync:
                    os.fsync(file.fileno())
            except OSError:
                file.truncate(size)
                raise
        if size == 0 and self._sync:
            _sync_folder(self._folder)
        self._sizes[segment] = size + len(frames)

    # --- at the beginning --------------------------------------------------------------------

    def read(self, bytes_max: int) -> list[tuple[Record, Place]]:
        """The next records, and the place behind each; at least one, if there is any."""
        with self._lock:
            while self._start != self._end():
                found = self._read_segment(bytes_max)
                if found:
                    return found
                self._next_segment()
            return []

    def _read_segment(self, bytes_max: int) -> list[tuple[Record, Place]]:
        segment, byte = self._start
        with open(self._path(segment), "rb") as file:
            file.seek(byte)
            data = file.read(self._sizes[segment] - byte)
        found: list[tuple[Record, Place]] = []
        place = 0
        while place < min(bytes_max, len(data)):
            frame = decode_frame(data, place)
            if frame is None:
                LOG.error("%s: damaged at byte %s", self._path(segment), byte + place)
                break
            record, place = frame
            found.append((record, Place(segment, byte + place)))
        return found

    def _next_segment(self) -> None:
        """What was sent goes; what is damaged stays beside, for whoever wants to look at it."""
        segment, byte = self._start
        path = self._path(segment)
        if byte < self._sizes.pop(segment):
            path.rename(path.with_suffix(".damaged"))
        else:
            path.unlink()
        self._keep_place(Place(min(self._sizes, default=segment + 1), 0))

    def advance(self, place: Place) -> None:
        """All before this place was sent, or set aside."""
        with self._lock:
            self._keep_place(place)
            if place.byte == self._sizes[place.segment]:
                self._next_segment()

    def close(self) -> None:
        os.close(self._claim)

    # --- files -------------------------------------------------------------------------------

    def _path(self, segment: int) -> Path:
        return self._folder / f"{segment:012d}.spool"

    def _read_place(self) -> Place:
        """A segment that is gone was sent whole."""
        first = min(self._sizes, default=0)
        try:
            segment, byte = map(int, (self._folder / "position").read_text().split())
        except (OSError, ValueError):
            return Place(first, 0)
        if segment not in self._sizes:
            return Place(max(segment + 1, first), 0)
        return Place(segment, byte if byte <= self._sizes[segment] else 0)

    def _keep_place(self, place: Place) -> None:
        self._start = place
        written = self._folder / "position.new"
        written.write_text(f"{place.segment} {place.byte}\n")
        written.replace(self._folder / "position")

    def _mend_tail(self) -> None:
        """Cut off what a crash left half written; nobody was told that it is kept."""
        if not self._sizes:
            return
        last = max(self._sizes)
        data = self._path(last).read_bytes()
        whole = self._start.byte if last == self._start.segment else 0
        while (frame := decode_frame(data, whole)) is not None:
            whole = frame[1]
        if whole < len(data):
            LOG.warning("%s: %s bytes were half written", self._path(last), len(data) - whole)
            os.truncate(self._path(last), whole)
            self._sizes[last] = whole


def _claimed(folder: Path) -> int:
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise DeclarationError(f"{folder} is another process's; each needs its own") from None
    return descriptor


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
