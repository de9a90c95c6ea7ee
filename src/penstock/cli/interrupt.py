"""Ctrl-C: remembered, so that whatever comes of it ends with code 130 and without a word."""

from __future__ import annotations

import signal
from collections.abc import Callable


class _State:
    seen = False


_state = _State()


def check_interrupt() -> None:
    """For loops that wait: a library may have dropped the exception that was raised in its
    callback, and the loop would go on as if nothing had been typed."""
    if _state.seen:
        raise KeyboardInterrupt


def interruptible(run: Callable[[list[str]], int], arguments: list[str], *, last: bool) -> int:
    """The exit code of `run`, or 130 if Ctrl-C ended it.

    Libraries turn a KeyboardInterrupt into errors of their own, such as an ImportError: an error
    that follows Ctrl-C is taken for it. With `last`, nothing but the end of the process comes
    after: Ctrl-C then simply ends it, without a traceback out of Python's own shutdown.
    """
    _state.seen = False

    def on_interrupt(_number: int, _frame: object) -> None:
        _state.seen = True
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        # As `nohup` and a shell's background jobs have it.
        return run(arguments)
    signal.signal(signal.SIGINT, on_interrupt)
    try:
        return run(arguments)
    except Exception:
        if not _state.seen:
            raise
        return 130
    finally:
        _state.seen = False
        signal.signal(signal.SIGINT, signal.SIG_DFL if last else before)
