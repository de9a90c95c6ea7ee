"""The entry point of the command line: picks the light path of `start`, and owns exit codes.

Codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted. It never lets a traceback out for
something a person can act on.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from penstock.cli.failure import Failure, complain


def main(argv: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    _mend_streams()
    # A broker's start counts in milliseconds, and typer alone takes a hundred to import; its
    # signals are the node's business.
    if arguments[:1] == ["start"]:
        return _guarded(_start, arguments[1:])
    return _guarded(lambda words: _run(words, last=argv is None), arguments)


def _start(arguments: list[str]) -> int:
    from penstock.cli.start import start

    return start(arguments)


def _run(arguments: list[str], *, last: bool) -> int:
    from penstock.cli.interrupt import interruptible

    return interruptible(_dispatch, arguments, last=last)


def _dispatch(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        from penstock.cli.version import version

        print(f"penstock {version()}")  # noqa: T201
        return 0
    from penstock.cli.app import run

    return run(arguments)


def _guarded(run: Callable[[list[str]], int], arguments: list[str]) -> int:
    try:
        code = run(arguments)
        sys.stdout.flush()
        return code
    except Failure as failure:
        complain(str(failure))
        return failure.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _abandon_stdout()
        return 0
    except OSError as error:
        # Such as a full disk behind `>`: what is left of the output has nowhere to go.
        _abandon_stdout()
        complain(_reason(error))
        return 1


def _reason(error: OSError) -> str:
    said = error.strerror or str(error)
    return f"{error.filename}: {said}" if error.filename else f"cannot read or write: {said}"


def _abandon_stdout() -> None:
    """Whoever read our output went away: nothing to say, and nothing left to flush at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def _mend_streams() -> None:
    """Python has no stream where the shell closed a descriptor (`>&-`), and fails to print a
    name that the terminal's encoding lacks."""
    for name, descriptor, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        stream = getattr(sys, name)
        if stream is None:
            # In the descriptor's own place, or the next file opened would get it.
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, descriptor)
            setattr(sys, name, os.fdopen(descriptor, mode, closefd=False))
        elif mode == "w" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
