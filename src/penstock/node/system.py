"""What a node takes from the machine and the process it runs in, apart from its clock and disk.

A simulation gives it all of this otherwise, so that whole nodes run inside another program, in
virtual time, and do the same again for the same seed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.network.sockets import RealSockets, Sockets
from penstock.node import descriptor
from penstock.peer.dialer import Dialer, SocketDialer
from penstock.storage.log_dir import NewPool

if TYPE_CHECKING:
    from penstock.storage.compaction.cleaner import Runner
    from penstock.storage.flush.flusher import RunLater


def _random() -> float:
    """A node starts without loading a module for a few numbers."""
    return int.from_bytes(os.urandom(6), "big") / (1 << 48)


@dataclass(frozen=True, slots=True)
class System:
    """By default the real ones; a simulation gives others."""

    sockets: Sockets = field(default_factory=RealSockets)
    dialer: Dialer = field(default_factory=SocketDialer)
    random: Callable[[], float] = _random
    """Numbers from 0 up to 1."""
    descriptors: int = field(default_factory=descriptor.limit)
    """How many may be open at once."""
    new_pool: NewPool = ThreadPoolExecutor
    flush_later: RunLater | None = None
    """None: threads sync the logs."""
    run_compaction: Runner | None = None
    """None: a child process compacts."""
    tunes_memory: bool = True
    """Whether the process is this node's alone, and with it the garbage collector."""
