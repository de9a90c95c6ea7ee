"""Files that the kernel syncs side by side, without a thread of this process (Linux's AIO).

A thread of Python takes the interpreter from the event loop before and after every sync. Here the
loop hands over a list of files in one call, and a descriptor can be read when they are synced.

Owns the kernel's queue. One stretch of files at a time.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Callable
from threading import Lock
from typing import Final

FILES_MAX: Final = 128
"""At a time. What the system has for all processes together (`fs.aio-max-nr`) is 65,536."""

_CALLS: Final = {"x86_64": (206, 207, 208, 209), "aarch64": (0, 1, 4, 2)}
"""The numbers of io_setup, io_destroy, io_getevents and io_submit, which libc has no names for."""
_REQUEST: Final = struct.Struct("<QIIHhIQQqQII")
_EVENT: Final = struct.Struct("<QQqq")
_FDATASYNC: Final = 3
_TELL_DESCRIPTOR: Final = 1

_Call = Callable[..., int]


class KernelSync:
    """OSError where the kernel has no such queue, or has none to give."""

    def __init__(self) -> None:
        system = os.uname()
        numbers = _CALLS.get(system.machine) if system.sysname == "Linux" else None
        if numbers is None:
            raise OSError(errno.ENOSYS, "no queue for syncs is known of this system")
        self._setup, self._destroy, self._get_events, self._submit = numbers
        # Both take a moment at most, less than to give the interpreter away and to get it back.
        self._call = _syscall(ctypes.PyDLL(None, use_errno=True))
        self._wait_call = _syscall(ctypes.CDLL(None, use_errno=True))
        self._queue = ctypes.c_ulong(0)
        self._checked(self._call(self._setup, FILES_MAX, ctypes.byref(self._queue)))
        self._fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._requests = ctypes.create_string_buffer(_REQUEST.size * FILES_MAX)
        first = ctypes.addressof(self._requests)
        places = [first + _REQUEST.size * place for place in range(FILES_MAX)]
        self._places = (ctypes.c_ulong * FILES_MAX)(*places)
        self._events = ctypes.create_string_buffer(_EVENT.size * FILES_MAX)
        self._collecting = Lock()
        self._codes: list[int] | None = None
        self._left = 0
        self._closed = False

    def fileno(self) -> int:
        """Can be read when something is synced."""
        return self._fd

    def begin(self, fds: list[int]) -> None:
        """What was begun before must be over. OSError where nothing was begun."""
        assert self._codes is None, "still at work"
        if self._closed or len(fds) > FILES_MAX:
            raise OSError(errno.EAGAIN, "more files than there is room for")
        for place, fd in enumerate(fds):
            # Place as the kernel tells it, what to do with which file, and whom to tell.
            request = (place, 0, 0, _FDATASYNC, 0, fd, 0, 0, 0, 0, _TELL_DESCRIPTOR, self._fd)
            _REQUEST.pack_into(self._requests, _REQUEST.size * place, *request)
        begun, codes = 0, [0] * len(fds)
        while begun < len(fds):
            taken = self._take_on(begun, len(fds) - begun)
            if taken > 0:
                self._left += taken
            elif not self._left:
                # A kernel before 4.18, or one that has no room now: nothing is known of the files.
                raise OSError(ctypes.get_errno(), "the kernel takes no syncs")
            else:
                codes[begun] = _sync_now(fds[begun])
            begun += max(taken, 1)
        self._codes = codes
        if not self._left:
            os.eventfd_write(self._fd, 1)

    def _take_on(self, place: int, count: int) -> int:
        """How many the kernel took. Below one, if it refused the first of them."""
        places = ctypes.byref(self._places, ctypes.sizeof(ctypes.c_ulong) * place)
        return self._call(self._submit, self._queue, count, places)

    def wait(self) -> None:
        """Until what was begun is over; from any thread. `take` has it then."""
        with self._collecting:
            while self._left:
                self._collect(self._wait_call, self._left)

    def take(self) -> list[int] | None:
        """For each file 0 or an errno. None while some are still under way."""
        # Before looking: what ends behind that makes it readable again. The kernel tells of the
        # last file a moment after it can be collected, so it may be readable for nothing, too.
        self._drain()
        if self._codes is None or not self._collecting.acquire(blocking=False):
            return None
        try:
            if self._left:
                self._collect(self._call, 0)
            if self._left:
                return None
            codes, self._codes = self._codes, None
            return codes
        finally:
            self._collecting.release()

    def _drain(self) -> None:
        try:
            os.eventfd_read(self._fd)
        except BlockingIOError:
            pass

    def _collect(self, call: _Call, wanted: int) -> None:
        assert self._codes is not None
        count = call(self._get_events, self._queue, wanted, FILES_MAX, self._events, None)
        if count < 0:
            if ctypes.get_errno() == errno.EINTR:
                return
            # Nobody will ever say what became of them.
            self._codes = [each or ctypes.get_errno() for each in self._codes]
            self._left = 0
        for number in range(count):
            place, _, result, _ = _EVENT.unpack_from(self._events, _EVENT.size * number)
            self._codes[place] = -result
            self._left -= 1

    def close(self) -> None:
        """When what was begun is over."""
        if not self._closed:
            self._closed = True
            self._wait_call(self._destroy, self._queue)
            os.close(self._fd)

    @staticmethod
    def _checked(result: int) -> None:
        if result < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))


def _syscall(library: ctypes.CDLL) -> _Call:
    call = library["syscall"]
    call.restype = ctypes.c_long
    return call


def _sync_now(fd: int) -> int:
    """The kernel took the files before it and not this one: hardly ever, and then once."""
    try:
        os.fdatasync(fd)
    except OSError as error:
        return error.errno or errno.EIO
    return 0
