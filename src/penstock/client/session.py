"""The clients that live between calls: found again, closed at exit, left alone after a fork.

A child process must not touch the librdkafka handles it inherits: their threads stayed in the
parent, and even freeing one would wait for them for ever. So after a fork the child forgets them
and opens its own at its first call.
"""

from __future__ import annotations

import atexit
import ctypes
import logging
import os
import threading
from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar

from penstock.client.repetition import Repetition

DEFAULT_BOOTSTRAP_SERVERS = "127.0.0.1:9092"
BOOTSTRAP_VARIABLE = "PENSTOCK_BOOTSTRAP_SERVERS"

# librdkafka's own lines go here, and nowhere unless the application wants them.
LOG = logging.getLogger("penstock.client")
LOG.addHandler(logging.NullHandler())
LOG.addFilter(Repetition())


class Closable(Protocol):
    def close(self) -> None: ...


T = TypeVar("T", bound=Closable)

_open: dict[Hashable, Closable] = {}
_lock = threading.Lock()


def bootstrap_of(bootstrap_servers: str | None) -> str:
    return bootstrap_servers or os.environ.get(BOOTSTRAP_VARIABLE) or DEFAULT_BOOTSTRAP_SERVERS


def reuse(kind: type[T], key: tuple[Hashable, ...], create: Callable[[], T]) -> T:
    """The open client of this key, or a new one."""
    with _lock:
        found = _open.get((kind, key))
        if isinstance(found, kind):
            return found
        created = create()
        _open[(kind, key)] = created
        return created


def opened(kind: type[T]) -> list[T]:
    with _lock:
        return [client for client in _open.values() if isinstance(client, kind)]


def close() -> None:
    """Flush and close every client the calls have opened; consumers leave their groups.

    Runs by itself at exit. The next call opens new ones.
    """
    with _lock:
        clients = list(_open.values())
        _open.clear()
    for client in clients:
        client.close()


def _forget_inherited() -> None:
    global _lock
    _lock = threading.Lock()
    for client in _open.values():
        _leak(client)
    _open.clear()


def _leak(inherited: Any) -> None:
    """Keep the object from ever being freed in this process."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(inherited))


atexit.register(close)
os.register_at_fork(after_in_child=_forget_inherited)
