"""Bounds the memory of requests that have not arrived whole, over all connections together.

A frame that does not fit in the shared receive buffer needs memory of its own, and gets more of it
as it arrives: announcing a large frame costs others nothing. Large buffers leave a quarter of the
memory to small ones. When there is no more, who asks waits, all but one: so that half-read requests
never starve each other, one of them may finish, beside the budget.

Nobody holds memory idle while others wait for it: a frame that arrives too slowly is then given
up, and with it its connection. As long as nobody waits, a client may be as slow as it likes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple, Protocol

KEPT_BUFFERS = 4
KEPT_BUFFER_BYTES_MAX = 4 * 1024 * 1024
PAGE_BYTES = 4096
ROUND_BYTES = 65536

SLOW_BYTES_PER_S = 64 * 1024
"""A frame that grows by less than this is slow."""
SLOW_AFTER_S = 0.5
"""For how long it has to be slow before it is given up."""
STARVED_S_MAX = 10.0
"""How long a half-read frame may wait for more memory, and keep what it has from others."""
STARVED_BEFORE_SMALL_S_MAX = 1.0
"""The same where it is a small buffer that others wait for."""
SMALL_BYTES = 1024 * 1024
OLDEST_TRIED_MAX = 64
LOOK_INTERVAL_S = 0.1
"""How often all frames are looked at for slow ones; in between only the oldest."""
FITS_TRIED_MAX = 64
"""How many of those who wait are looked at when memory comes back: closing thousands of
connections costs each of them the same."""

_NEVER = float("-inf")


class Holder(Protocol):
    """A frame that is being read."""

    starved: bool

    @property
    def filled_bytes(self) -> int: ...

    @property
    def frame_bytes(self) -> int:
        """How large it says that it will be."""

    def give_up(self, reason: str) -> None:
        """Ends the frame; all of its memory is given back before this returns."""


class Hold:
    """How far a frame had come at some time: its speed is known from there."""

    __slots__ = ("at", "filled_bytes", "starved_at")

    def __init__(self, at: float, filled_bytes: int) -> None:
        self.at = at
        self.filled_bytes = filled_bytes
        self.starved_at: float | None = None


class Waiting(NamedTuple):
    size: int
    held_bytes: int
    """What is given back when it gets the size."""
    is_small: bool
    resume: Callable[[], None]


class FrameBudget:
    """`on_tight` is called when memory runs short: from then on somebody has to `tick`."""

    __slots__ = (
        "_favoured",
        "_favoured_bytes",
        "_free",
        "_holds",
        "_is_serving",
        "_limit_bytes",
        "_looked_at",
        "_now",
        "_used_bytes",
        "_waiting",
        "on_tight",
    )

    def __init__(self, limit_bytes: int, now: Callable[[], float]) -> None:
        self._limit_bytes = limit_bytes
        self._now = now
        self._used_bytes = 0
        # A plain dict that loses its first entries is slow to look at.
        self._waiting: OrderedDict[Holder, Waiting] = OrderedDict()
        self._free: list[bytearray] = []
        self._favoured: Holder | None = None
        # Not among those in use.
        self._favoured_bytes = 0
        self._holds: OrderedDict[Holder, Hold] = OrderedDict()
        self._is_serving = False
        self._looked_at = _NEVER
        self.on_tight: Callable[[], None] = lambda: None

    @property
    def used_bytes(self) -> int:
        return self._used_bytes + self._favoured_bytes

    @property
    def waiting_count(self) -> int:
        return len(self._waiting)

    @property
    def is_tight(self) -> bool:
        """Half of it is in use: whoever begins now begins small."""
        return self._used_bytes * 2 > self._limit_bytes

    def take(self, size: int, holder: Holder) -> bytearray | None:
        """A buffer of at least `size` bytes, or None: then `wait`."""
        is_small = _is_small(holder)
        if not self._may_begin(size, is_small):
            self._give_up_slow(size, 0, is_small, holder)
            if not self._may_begin(size, is_small):
                return None
        buffer = self._allocate(size)
        self._used_bytes += len(buffer)
        self._holds[holder] = Hold(self._now(), 0)
        if self.is_tight:
            self.on_tight()
        return buffer

    def grow(self, buffer: bytearray, size: int, holder: Holder) -> bytearray | None:
        """A larger buffer, to which what is in this one is to be copied at once."""
        is_small = _is_small(holder)
        if self._favoured is not holder and not self._fits(size, len(buffer), is_small):
            self._give_up_slow(size, len(buffer), is_small, holder)
            if not self._fits(size, len(buffer), is_small):
                if self._favoured is not None:
                    return None
                self._favoured = holder
                self._used_bytes -= len(buffer)
                self._favoured_bytes = len(buffer)
        larger = self._allocate(size)
        if self._favoured is holder:
            self._favoured_bytes = len(larger)
        else:
            self._used_bytes += len(larger) - len(buffer)
        self._keep(buffer)
        if self.is_tight:
            self.on_tight()
        return larger

    def leave(self, holder: Holder) -> None:
        """The holder's frame is complete or abandoned: its speed does not matter any more."""
        self._holds.pop(holder, None)
        self._waiting.pop(holder, None)

    def give_back(self, buffer: bytearray, holder: Holder) -> None:
        """Of a frame that was left."""
        if self._favoured is holder:
            self._favoured = None
            self._favoured_bytes = 0
        else:
            self._used_bytes -= len(buffer)
        self._keep(buffer)
        self._serve_waiting()

    def charge(self, size: int) -> None:
        """Memory that is in use already, and not refused: of what was read and not served yet."""
        self._used_bytes += size
        if self.is_tight:
            self.on_tight()

    def discharge(self, size: int) -> None:
        self._used_bytes -= size
        self._serve_waiting()

    def wait(self, size: int, held_bytes: int, holder: Holder, resume: Callable[[], None]) -> None:
        """`resume` is called once, when it is worth asking again."""
        self._waiting[holder] = Waiting(size, held_bytes, _is_small(holder), resume)
        self.on_tight()

    def tick(self) -> bool:
        """Looks how fast the frames arrive, and gives up the slow ones if others wait for their
        memory. Says whether there is anything more to look after."""
        now = self._now()
        for hold_of in list(self._holds.items()):
            self._measure(*hold_of, now)
        for one in self._first_of_each_size():
            self._looked_at = _NEVER
            self._give_up_slow(one.size, one.held_bytes, one.is_small, None)
            self._serve_waiting()
        return bool(self._waiting) or self.is_tight

    def _first_of_each_size(self) -> list[Waiting]:
        """A small one is not to wait for what a large one waits for."""
        found: dict[bool, Waiting] = {}
        for one in islice(self._waiting.values(), FITS_TRIED_MAX):
            found.setdefault(one.is_small, one)
        return list(found.values())

    def _fits(self, size: int, held_bytes: int, is_small: bool) -> bool:
        """A large frame leaves a quarter to small ones, also while little of it has come."""
        used_bytes = self._used_bytes - held_bytes
        limit_bytes = self._limit_bytes
        if not is_small:
            limit_bytes -= limit_bytes // 4
        return used_bytes + size <= limit_bytes

    def _may_begin(self, size: int, is_small: bool) -> bool:
        """The only one there is may, whatever its size."""
        return self._fits(size, 0, is_small) or not (self._used_bytes or self._favoured)

    def _allocate(self, size: int) -> bytearray:
        for i, buffer in enumerate(self._free):
            if size <= len(buffer) <= 4 * size + ROUND_BYTES:
                del self._free[i]
                break
        else:
            # Rounded up, so that a kept buffer fits the next request of nearly the same size.
            unit = ROUND_BYTES if size > ROUND_BYTES // 2 else PAGE_BYTES
            buffer = bytearray((size + unit - 1) & -unit)
        return buffer

    def _keep(self, buffer: bytearray) -> None:
        if ROUND_BYTES <= len(buffer) <= KEPT_BUFFER_BYTES_MAX and len(self._free) < KEPT_BUFFERS:
            self._free.append(buffer)

    def _serve_waiting(self) -> None:
        """In their order, as many as what is free allows: each is woken to go on, not to ask."""
        if not self._waiting or self._is_serving:
            return
        self._is_serving = True
        passed = 0
        while passed < min(FITS_TRIED_MAX, len(self._waiting)):
            holder, one = next(islice(self._waiting.items(), passed, None))
            if self._may_go_on(one):
                del self._waiting[holder]
                one.resume()
            else:
                passed += 1
        self._is_serving = False

    def _may_go_on(self, one: Waiting) -> bool:
        if not one.held_bytes:
            return self._may_begin(one.size, one.is_small)
        return self._favoured is None or self._fits(one.size, one.held_bytes, one.is_small)

    # Who is slow

    def _measure(self, holder: Holder, hold: Hold, now: float) -> None:
        if holder.starved:
            # Not its own doing. Its time begins anew when it is read from again.
            hold.at, hold.filled_bytes = now, holder.filled_bytes
            if hold.starved_at is None:
                hold.starved_at = now
            return
        hold.starved_at = None
        if not _is_slow(holder, hold, now) and now - hold.at >= SLOW_AFTER_S / 2:
            hold.at, hold.filled_bytes = now, holder.filled_bytes

    def _give_up_slow(
        self, size: int, held_bytes: int, is_small: bool, asking: Holder | None
    ) -> None:
        """Somebody needs memory: who keeps it without using it loses it, the oldest first, until
        there is enough. What is more than enough is for those who wait, at the next tick."""
        if self._is_serving:
            return
        now = self._now()
        is_due = now - self._looked_at >= LOOK_INTERVAL_S
        self._is_serving = True
        for holder, hold in list(islice(self._holds.items(), None if is_due else OLDEST_TRIED_MAX)):
            if self._fits(size, held_bytes, is_small):
                break
            reason = _reason_to_give_up(holder, hold, now, is_small)
            if reason is not None and holder is not asking:
                holder.give_up(reason)
        self._is_serving = False
        if is_due:
            self._looked_at = now


def _reason_to_give_up(holder: Holder, hold: Hold, now: float, for_small: bool) -> str | None:
    if holder.starved:
        limit_s = STARVED_BEFORE_SMALL_S_MAX if for_small else STARVED_S_MAX
        if hold.starved_at is None or now - hold.starved_at < limit_s:
            return None
        return f"no memory for the rest of its request in {now - hold.starved_at:.1f} s"
    if now - hold.at < SLOW_AFTER_S or not _is_slow(holder, hold, now):
        return None
    sent_bytes = holder.filled_bytes - hold.filled_bytes
    return (
        f"sent {sent_bytes} bytes of a request in {now - hold.at:.1f} s "
        "while others wait for the memory that it holds"
    )


def _is_small(holder: Holder) -> bool:
    return holder.frame_bytes <= SMALL_BYTES


def _is_slow(holder: Holder, hold: Hold, now: float) -> bool:
    return holder.filled_bytes - hold.filled_bytes < SLOW_BYTES_PER_S * (now - hold.at)
