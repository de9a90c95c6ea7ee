"""An event loop in virtual time: when nothing is left to do, it is the next timer's time at once.

Sockets are those of the simulated network. Work for threads is done in this one, at a later instant
that the seed decides. What belongs to a process that was killed is dropped.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, copy_context
from heapq import heapify, heappop, heappush
from random import Random
from typing import Any, Protocol, TypeVar

from penstock.testing.simulation.process import CURRENT, Handler, Process, ProcessKilled, process_of

T = TypeVar("T")

STEP_NS = 1_000
"""What a callback takes: whoever polls for something to happen gets there in the end."""
THREAD_S = (20e-6, 1e-3)
"""How long a thread takes to begin, and its result to come back."""
FOREVER_S = float(1 << 32)
_CANCELLED_MIN = 256


class SimulationError(Exception):
    """The simulation cannot go on, or something in it went wrong that nobody was told of."""


class Pollable(Protocol):
    @property
    def is_readable(self) -> bool: ...
    @property
    def is_writable(self) -> bool: ...


class _Watch:
    __slots__ = ("args", "callback", "context", "is_queued")

    def __init__(self, callback: Callable[..., object], args: tuple[Any, ...]) -> None:
        self.callback = callback
        self.args = args
        self.context = copy_context()
        self.is_queued = False


class VirtualLoop(asyncio.AbstractEventLoop):
    def __init__(self, random: Random) -> None:
        self._random = random
        self._now_ns = 0
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: list[tuple[int, int, asyncio.TimerHandle]] = []
        self._timer_count = 0
        self._cancelled_count = 0
        self._sockets: dict[int, Pollable] = {}
        self._next_fd = 3
        self._readers: dict[int, _Watch] = {}
        self._writers: dict[int, _Watch] = {}
        self._threads_at_ns = 0
        self._is_running = self._is_stopping = self._is_closed = False
        self.steps = 0
        self.unexpected: list[str] = []
        """Errors of callbacks and tasks that nobody was there to be told of."""

    # Time

    def time(self) -> float:
        return self._now_ns / 1e9

    def now_ns(self) -> int:
        return self._now_ns

    # Callbacks

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """From a thread, which is one here as well: later, and in the order of the calls."""
        when_ns = self._now_ns + self._thread_ns()
        self._threads_at_ns = max(self._threads_at_ns, when_ns)
        return self._call_at_ns(self._threads_at_ns, callback, args, context)

    def call_later(  # type: ignore[override]
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        return self._call_at_ns(self._now_ns + round(delay * 1e9), callback, args, context)

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        return self._call_at_ns(round(when * 1e9), callback, args, context)

    def _call_at_ns(
        self,
        when_ns: int,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        context: Context | None,
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when_ns / 1e9, callback, args, self, context)
        self._timer_count += 1
        heappush(self._timers, (max(when_ns, self._now_ns), self._timer_count, handle))
        return handle

    def _timer_handle_cancelled(self, _: asyncio.TimerHandle) -> None:
        self._cancelled_count += 1
        if self._cancelled_count > max(_CANCELLED_MIN, len(self._timers) // 2):
            self._timers = [one for one in self._timers if not one[2].cancelled()]
            heapify(self._timers)
            self._cancelled_count = 0

    # Tasks and threads

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(
        self,
        coro: Generator[Any, None, T] | Coroutine[Any, Any, T],
        *,
        name: str | None = None,
        context: Context | None = None,
    ) -> asyncio.Task[T]:
        task: asyncio.Task[T] = asyncio.Task(coro, loop=self, name=name, context=context)
        process = process_of(context or copy_context())
        if process is not None:
            process.adopt(task)
        return task

    def run_in_executor(  # type: ignore[override]
        self, executor: object, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        future: asyncio.Future[T] = self.create_future()

        def work() -> None:
            try:
                outcome: T | Exception = func(*args)
            except Exception as error:
                outcome = error
            self._call_at_ns(self._now_ns + self._thread_ns(), deliver, (outcome,), None)

        def deliver(outcome: Any) -> None:
            if future.done():
                return
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

        self.run_later(work)
        return future

    def run_later(self, work: Callable[[], object]) -> None:
        """As in a thread of its own."""
        self._call_at_ns(self._now_ns + self._thread_ns(), work, (), None)

    def _thread_ns(self) -> int:
        return round(self._random.uniform(*THREAD_S) * 1e9)

    # Sockets

    def register(self, sock: Pollable) -> int:
        self._next_fd += 1
        self._sockets[self._next_fd] = sock
        return self._next_fd

    def unregister(self, fd: int) -> None:
        self._sockets.pop(fd, None)
        self._readers.pop(fd, None)
        self._writers.pop(fd, None)

    def socket(self, fd: int) -> Pollable:
        return self._sockets[fd]

    def add_reader(  # type: ignore[override]
        self, fd: int, callback: Callable[..., object], *args: Any
    ) -> None:
        self._readers[fd] = _Watch(callback, args)
        self.look(fd)

    def remove_reader(self, fd: Any) -> bool:
        return self._readers.pop(fd, None) is not None

    def add_writer(  # type: ignore[override]
        self, fd: int, callback: Callable[..., object], *args: Any
    ) -> None:
        self._writers[fd] = _Watch(callback, args)
        self.look(fd)

    def remove_writer(self, fd: Any) -> bool:
        return self._writers.pop(fd, None) is not None

    def look(self, fd: int) -> None:
        """Something changed about this socket."""
        sock = self._sockets.get(fd)
        if sock is not None:
            if fd in self._readers and sock.is_readable:
                self._queue_watch(fd, self._readers)
            if fd in self._writers and sock.is_writable:
                self._queue_watch(fd, self._writers)

    def _queue_watch(self, fd: int, watches: dict[int, _Watch]) -> None:
        watch = watches[fd]
        if not watch.is_queued:
            watch.is_queued = True
            self.call_soon(self._run_watch, fd, watch, watches, context=watch.context)

    def _run_watch(self, fd: int, watch: _Watch, watches: dict[int, _Watch]) -> None:
        watch.is_queued = False
        sock = self._sockets.get(fd)
        if sock is None or watches.get(fd) is not watch:
            return
        if sock.is_readable if watches is self._readers else sock.is_writable:
            watch.callback(*watch.args)
            self.look(fd)

    # Running

    def run_until(self, condition: Callable[[], bool], until_s: float) -> bool:
        """Until it holds, as far as looked at behind every callback, or until that time. Whether
        it holds."""
        until_ns = round(until_s * 1e9)
        self._begin()
        try:
            while not condition():
                if self._is_stopping or not self._step(until_ns):
                    return condition()
            return True
        finally:
            self._end()

    def _step(self, until_ns: int) -> bool:
        """Runs the next callback; False if there is none before that time, which it is then."""
        ready, timers = self._ready, self._timers
        if not ready:
            while timers and timers[0][2].cancelled():
                heappop(timers)
            if not timers or timers[0][0] > until_ns:
                self._now_ns = max(self._now_ns, until_ns)
                return False
            self._now_ns = max(self._now_ns, timers[0][0])
        while timers and timers[0][0] <= self._now_ns:
            ready.append(heappop(timers)[2])
        handle = ready.popleft()
        if not handle.cancelled():
            process = handle._context.get(CURRENT)  # type: ignore[attr-defined]
            if process is not None and process.held is not None:
                process.held.append(handle)
            elif process is None or process.alive:
                self.steps += 1
                self._now_ns += STEP_NS
                handle._run()
        return True

    def resume(self, process: Process) -> None:
        """All that it missed, in its order."""
        held, process.held = process.held, None
        self._ready.extend(held or ())

    def run_forever(self) -> None:
        self.run_until(lambda: False, FOREVER_S)

    def run_until_complete(self, future: Any) -> Any:
        task = asyncio.ensure_future(future, loop=self)
        self.run_until(task.done, FOREVER_S)
        if not task.done():
            raise SimulationError("nothing is left that could complete it")
        return task.result()

    def _begin(self) -> None:
        if self._is_running:
            raise RuntimeError("the loop is running already")
        self._is_running, self._is_stopping = True, False
        asyncio._set_running_loop(self)

    def _end(self) -> None:
        self._is_running = False
        asyncio._set_running_loop(None)

    def stop(self) -> None:
        self._is_stopping = True

    def is_running(self) -> bool:
        return self._is_running

    def is_closed(self) -> bool:
        return self._is_closed

    def close(self) -> None:
        self._is_closed = True
        self._ready.clear()
        self._timers.clear()
        self._readers.clear()
        self._writers.clear()
        self._sockets.clear()

    def get_debug(self) -> bool:
        return False

    # Errors

    def set_exception_handler(self, handler: Handler | None) -> None:
        """Of the process that sets it."""
        process = process_of(copy_context())
        if process is not None:
            process.exception_handler = handler

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        self.call_exception_handler(context)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        error = context.get("exception")
        handle = context.get("handle")
        process = process_of(handle._context if handle is not None else copy_context())
        if isinstance(error, ProcessKilled) or (process is not None and not process.alive):
            return
        if process is not None and process.exception_handler is not None:
            process.exception_handler(self, context)
        # What the garbage collector finds, it finds when it likes: that must decide nothing.
        if handle is not None:
            self.unexpected.append(f"{process}: {context.get('message')}: {error!r}")
