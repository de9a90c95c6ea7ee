"""One client connection: reads frames, serves them, sends the replies in the order of the requests.

The ordered part of a request (an append) is done when `serve` returns; what it still waits for
(a flush, a long poll) overlaps with the requests behind it, and its reply keeps its place.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from penstock.model.error import ProtocolError
from penstock.network.budget import FrameBudget
from penstock.network.later import Later
from penstock.network.part import Exclusive, Part, Reply, Served, memory_bytes, release
from penstock.network.reader import FrameReader
from penstock.network.slot import Slot
from penstock.network.sockets import StreamSocket, has_hung_up
from penstock.network.turn import Turn
from penstock.network.writer import PartWriter
from penstock.telemetry.log import get_logger

if TYPE_CHECKING:
    from penstock.network.listener import Listener

QUEUED_BYTES_MIN = 64 * 1024
"""What may always wait to be sent on a connection; how much more depends on the others."""
PENDING_REPLIES_MAX = 256
READS_PER_EVENT = 4
_READS = range(READS_PER_EVENT)

log = get_logger("network")

Serve = Callable[[Any, memoryview], Served]


class Connection:
    """`state` is whatever the server keeps per connection; this class only carries it, and tells it
    how to mute the connection."""

    __slots__ = (
        "_continuing",
        "_exclusive",
        "_gathered",
        "_gathered_bytes",
        "_held",
        "_listener",
        "_loop",
        "_muted",
        "_now",
        "_paused",
        "_reader",
        "_recv_into",
        "_sending",
        "_serve",
        "_slots",
        "_slots_bytes",
        "_sock",
        "_tally",
        "_turn",
        "_writer",
        "_writing",
        "active_at",
        "closed",
        "draining",
        "fd",
        "peer",
        "received_bytes",
        "state",
    )

    def __init__(
        self,
        sock: StreamSocket,
        peer: str,
        listener: Listener,
        serve: Serve,
        budget: FrameBudget,
        frame_bytes_max: int,
        state: Any,
    ) -> None:
        self._sock = sock
        self.fd = sock.fileno()
        self.peer = peer
        self.state = state
        state.mute = self.mute
        self._listener = listener
        self._loop = listener.loop
        self._held = listener.held
        self._serve = serve
        self._reader = FrameReader(budget, frame_bytes_max, self.close)
        self._tally = listener.answers
        self._writer = PartWriter(sock, self._tally, listener.sockets)
        self._slots: deque[Slot] = deque()
        # Of the replies that are ready and wait for one before them.
        self._slots_bytes = 0
        self._paused = False
        # True from when what was read before is to be gone on with until that is done.
        self._continuing = False
        # The reply that everything behind it waits for, and the turn that the next frame waits for.
        self._exclusive: Slot | None = None
        self._turn: Turn | None = None
        # Runs out when the client has waited for as long as its quota asks.
        self._muted: asyncio.TimerHandle | None = None
        self._writing = False
        # Replies kept back so that they leave together; None while each goes at once.
        self._gathered: list[Part] | None = None
        self._gathered_bytes = 0
        self._sending = False
        self._recv_into = sock.recv_into
        self._now = self._loop.time
        self.active_at = self._now()
        self.received_bytes = 0
        self.closed = False
        self.draining = False
        self._loop.add_reader(self.fd, self._on_readable)

    @property
    def is_idle(self) -> bool:
        return not self._slots and not self._gathered and not self._writer.queued_bytes

    @property
    def is_waiting(self) -> bool:
        """For an answer of ours, or for its quota: that is not idleness. Not reading the answers
        is."""
        return bool(self._slots or self._muted) and not self._writer.queued_bytes

    @property
    def sent_bytes(self) -> int:
        return self._writer.sent_bytes

    @property
    def unread_bytes(self) -> int:
        return self._writer.queued_bytes

    def limit_frames(self, size_bytes: int) -> None:
        """From the next frame on."""
        self._reader.limit_bytes = size_bytes

    def close(self, reason: str | None = None) -> None:
        if self.closed:
            return
        self.closed = True
        if reason:
            log.info("connection closed", peer=self.peer, reason=reason)
        self._loop.remove_reader(self.fd)
        if self._writing:
            self._loop.remove_writer(self.fd)
        for slot in self._slots:
            if isinstance(slot.waiting, Later):
                slot.waiting.cancel()
            elif slot.waiting is not None:
                # Not before it has begun: what it is to wait for would never be ended.
                self._loop.call_soon(slot.waiting.cancel)
            release(slot.parts)
        self._slots.clear()
        self._tally.memory_bytes -= self._slots_bytes
        self._slots_bytes = 0
        if self._turn is not None:
            self._turn.forget(self)
        if self._muted is not None:
            self._muted.cancel()
        release(self._gathered)
        self._gathered = None
        self._reader.close()
        self._writer.close()
        self._sock.close()
        self._listener.forget(self)

    def drain(self) -> None:
        """Takes no more requests; closes once the replies under way are sent."""
        self.draining = True
        self._loop.remove_reader(self.fd)
        if self.is_idle:
            self.close()

    def mute(self, seconds: float) -> None:
        """Nothing more is read or begun until then. What is under way is answered."""
        end_s = self._now() + seconds
        if self.closed or (self._muted is not None and self._muted.when() >= end_s):
            return
        if self._muted is not None:
            self._muted.cancel()
        self._muted = self._loop.call_at(end_s, self._unmute)
        if not self.draining:
            self._pause()

    def _unmute(self) -> None:
        self._muted = None
        self._after_write()

    # Reading

    def _on_readable(self) -> None:
        reader, listener = self._reader, self._listener
        shared = listener.receive_buffer
        try:
            for _ in _READS:
                target = reader.target(shared)
                count = self._recv_into(target)
                if not count:
                    self.close()
                    return
                self.received_bytes += count
                self.active_at = self._now()
                frames = reader.feed(shared, count)
                if type(frames) is tuple:
                    # Of a client that waits for its answers: this one goes straight.
                    if not self._handle(frames[0]):
                        reader.keep(shared, count)
                else:
                    self._handle_all(frames)
                if self.closed:
                    return
                if self._must_pause():
                    self._pause()
                    return
                if count < len(target):
                    return
        except (BlockingIOError, InterruptedError):
            return
        except Exception as error:
            self._end(error)

    def _end(self, error: Exception) -> None:
        if isinstance(error, ProtocolError):
            self.close(f"malformed request: {error}")
        elif isinstance(error, OSError):
            self.close()
        else:
            self._fail(error)

    def _handle_all(self, frames: Iterable[memoryview]) -> None:
        """What can be answered at once is sent together: to the system a reply costs more than
        the bytes in it. Others have their turn in between, however much was sent ahead."""
        held, reader, slots = self._held, self._reader, self._slots
        held.begin()
        self._gathered = []
        self._gathered_bytes = 0
        full_bytes = self._listener.queued_bytes_max
        now_s = self._listener.now_s
        until = now_s() + self._listener.slice_s
        try:
            for frame in frames:
                if not self._handle(frame):
                    reader.halt(again=True)
                elif self.closed:
                    return
                elif (
                    now_s() > until
                    or len(slots) >= PENDING_REPLIES_MAX
                    or self._gathered_bytes + self._slots_bytes >= full_bytes
                    or self._exclusive is not None
                    or self._muted is not None
                ):
                    reader.halt(again=False)
        finally:
            # Also behind a frame that could not be read: those before it have their answers.
            if held.end():
                self._let_go()
            else:
                self.close("what its requests wrote could not be kept")

    def go_on(self) -> None:
        """With what was read before: then it may be read from the socket again."""
        self._continuing = False
        if self.closed or self.draining or not self._reader.has_kept or self._is_blocked():
            return
        try:
            self._handle_all(self._reader.kept())
        except Exception as error:
            self._end(error)
        if self.closed:
            return
        if self._must_pause():
            self._wait_to_go_on()
        else:
            self._resume()

    def _continue_soon(self) -> None:
        if not self._continuing:
            self._continuing = True
            self._listener.go_on_soon(self)

    def _on_turn(self) -> None:
        self._turn = None
        if has_hung_up(self._sock):
            self.close()
        elif not self._continuing:
            self.go_on()

    def _let_go(self) -> None:
        gathered, self._gathered = self._gathered, None
        if gathered:
            self._send(gathered)

    def _handle(self, frame: memoryview) -> bool:
        """False when the frame is to be handled again, later."""
        served = self._serve(self.state, frame)
        if served is None:
            return True
        if not isinstance(served, list):
            return self._park(served)
        if not self._slots:
            self._send(served)
        else:
            slot = Slot()
            self._slots.append(slot)
            self._make_ready(slot, served)
        return True

    def _park(self, served: Later[Reply] | Coroutine[Any, Any, Reply] | Exclusive | Turn) -> bool:
        if isinstance(served, Turn):
            self._turn = served
            served.wait(self, self._on_turn)
            return False
        slot = Slot()
        self._slots.append(slot)
        if isinstance(served, Later):
            slot.waiting = served
            served.listen(lambda parts: self._settle(slot, parts), self._fail)
            return True
        if isinstance(served, Exclusive):
            self._exclusive = slot
            slot.waiting = task = self._loop.create_task(served.waiting)
            end = served.end
            task.add_done_callback(lambda _: end())
        else:
            slot.waiting = task = self._loop.create_task(served)
        task.add_done_callback(lambda done: self._settle_task(slot, done))
        return True

    def _make_ready(self, slot: Slot, parts: Reply) -> None:
        slot.parts, slot.ready = parts, True
        if parts is not None:
            slot.memory_bytes = size = memory_bytes(parts)
            self._slots_bytes += size
            self._tally.memory_bytes += size

    def _settle_task(self, slot: Slot, task: asyncio.Task[Reply]) -> None:
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._settle(slot, task.result())
        else:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        """A request we could not answer: for its own fault, or for a reason of ours."""
        if isinstance(error, ProtocolError):
            self.close(str(error))
        elif not self.closed:
            log.error("request failed", peer=self.peer, exc_info=error)
            self.close("internal error")

    def _settle(self, slot: Slot, parts: Reply) -> None:
        slot.waiting = None
        if self.closed:
            release(parts)
            return
        if slot is self._exclusive:
            self._exclusive = None
        self.active_at = self._now()
        if len(self._slots) == 1:
            slot.parts, slot.ready = parts, True
            self._send_ready()
            return
        self._make_ready(slot, parts)
        if self._sending:
            return
        # What made this one ready may be about to make its neighbours ready too.
        self._sending = True
        self._loop.call_soon(self._send_gathered)

    # Writing

    def _send_gathered(self) -> None:
        self._sending = False
        if self.closed:
            return
        self._gathered = []
        self._send_ready()
        self._let_go()
        self._after_write()

    def _send_ready(self) -> None:
        slots = self._slots
        while slots and slots[0].ready and not self.closed:
            slot = slots.popleft()
            if slot.memory_bytes:
                self._slots_bytes -= slot.memory_bytes
                self._tally.memory_bytes -= slot.memory_bytes
            if slot.parts is not None:
                self._send(slot.parts)
        if not self.closed:
            self._after_write()

    def _send(self, parts: Sequence[Part]) -> None:
        gathered = self._gathered
        if gathered is not None:
            gathered += parts
            self._gathered_bytes += len(parts[0])
            return
        try:
            if self._held.writes:
                self._held.settle()
            done = self._writer.write(parts)
        except OSError:
            self.close()
            return
        if not done and not self._writing:
            self._writing = True
            self._loop.add_writer(self.fd, self._on_writable)

    def _on_writable(self) -> None:
        try:
            done = self._writer.flush()
        except OSError:
            self.close()
            return
        self.active_at = self._now()
        if done:
            self._writing = False
            self._loop.remove_writer(self.fd)
        self._after_write()

    def _after_write(self) -> None:
        if self.draining and self.is_idle:
            self.close()
        elif self._paused and not self._is_blocked():
            self._resume()

    # Back-pressure: a client that does not read its replies is not read from either.

    def _must_pause(self) -> bool:
        return (
            self._reader.stopped
            or self._muted is not None
            or self._exclusive is not None
            or len(self._slots) >= PENDING_REPLIES_MAX
            or (
                self._writer.queued_bytes + self._slots_bytes >= QUEUED_BYTES_MIN
                and self._is_full()
            )
        )

    def _is_full(self) -> bool:
        """Of replies that wait to be sent."""
        queued_bytes = self._writer.queued_bytes + self._slots_bytes
        return queued_bytes >= self._listener.queued_bytes_max

    def _is_blocked(self) -> bool:
        """By something that will tell when it is over."""
        return (
            self._reader.starved
            or self._muted is not None
            or self._turn is not None
            or self._exclusive is not None
            or len(self._slots) >= PENDING_REPLIES_MAX
            or self._is_full()
        )

    def _pause(self) -> None:
        if not self._paused:
            self._paused = True
            self._loop.remove_reader(self.fd)
            self._wait_to_go_on()

    def _wait_to_go_on(self) -> None:
        if self._reader.starved:
            self._reader.wait(self._on_memory)
        elif not self._is_blocked():
            self._continue_soon()

    def _on_memory(self) -> None:
        if self.closed:
            return
        self._reader.retry()
        if self._reader.starved:
            self._reader.wait(self._on_memory)
        elif not self._is_blocked():
            self._resume()

    def _resume(self) -> None:
        if not self._paused or self.closed or self.draining:
            return
        if self._reader.has_kept:
            self._continue_soon()
        else:
            self._paused = False
            self._loop.add_reader(self.fd, self._on_readable)
