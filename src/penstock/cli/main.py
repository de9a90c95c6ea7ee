"""The entry point of the command line: picks the light path of `start`, and owns exit codes.

Codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted. It never lets a traceback out for
something a person can act on.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from penstock.cli.failure import Failure, complain


def main(argv: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _dispatch(arguments)
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


def _dispatch(arguments: list[str]) -> int:
    # A broker's start counts in milliseconds, and typer alone takes a hundred to import.
    if arguments[:1] == ["start"]:
        from penstock.cli.start import start

        return start(arguments[1:])
    if arguments == ["--version"]:
        from penstock.cli.version import version

        print(f"penstock {version()}")  # noqa: T201
        return 0
    from penstock.cli.app import run

    return run(arguments)


def _abandon_stdout() -> None:
    """Whoever read our output went away: nothing to say, and nothing left to flush at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


if __name__ == "__main__":
    sys.exit(main())
