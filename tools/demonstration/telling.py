"""How the demo speaks: chapters, lines, and claims that end it when they do not hold."""

from __future__ import annotations

import os
import sys

on_terminal = sys.stdout.isatty() and "NO_COLOR" not in os.environ


class ClaimError(Exception):
    """Something the demo says about Penstock turned out not to be so."""


def style(code: str, text: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if on_terminal else text


def chapter(title: str) -> None:
    print(f"\n{style('1;36', title)}", flush=True)


def say(text: str, detail: str = "") -> None:
    print(f"  {text}{'  ' + style('2', detail) if detail else ''}", flush=True)


def check(holds: bool, claim: str) -> None:
    say(f"{style('32', 'yes')}: {claim}" if holds else f"{style('31', 'NO')}: {claim}")
    if not holds:
        raise ClaimError(claim)


def size(count: float) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"
