"""Asking before something is done that takes long or cannot be undone."""

from __future__ import annotations

import sys

from penstock.cli.failure import Failure


def confirm(question: str, *, yes: bool) -> None:
    """Go on, or fail. Where no person is there to ask, only `--yes` goes on."""
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Failure("nothing was changed; add --yes to go on")
    sys.stdout.flush()
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Failure("nothing was changed")
