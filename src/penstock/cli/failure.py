"""What ends a command early: one line for a person, and the exit code for a script."""

from __future__ import annotations

import sys


class Failure(Exception):
    exit_code = 1


class UsageFailure(Failure):
    exit_code = 2


def complain(message: str) -> None:
    from penstock.cli.output import harmless

    try:
        sys.stderr.write(f"penstock: {harmless(' '.join(message.split()))}\n")
        sys.stderr.flush()
    except OSError:
        # Nobody can be told; the exit code still says it.
        pass
