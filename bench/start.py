"""How much of a processor the start of each command takes: its help page, and some that ask a node.

By processor time, which a busy machine changes little; the least of a few runs.

python -m bench.start [--runs 3] [--limit 0.3]
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from penstock.cli.app import app
from penstock.testing.cluster import Cluster

LIMIT_S = 0.3
ASKED = (
    "cluster info",
    "topics list",
    "groups list",
    "lag",
    "brokers list",
    "configs list",
    "health ready",
    "quorum",
    "log-dirs",
    "balance plan",
    "capacity --messages 1000 --size 1K",
    "sla list",
    "catalog sync --once",
    "sql 'SELECT 1'",
    "sql 'SELECT * FROM Topic'",
)
"""Without what they wait for: those that look twice take their time by intent."""


def commands(command: Any, name: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Each that can be named, groups too."""
    yield name
    for each in getattr(command, "commands", ()):
        yield from commands(command.commands[each], (*name, each))


def processor_s(words: list[str], folder: str, environment: dict[str, str]) -> tuple[float, int]:
    """And the exit code."""
    program = [sys.executable, "-m", "penstock.cli.main", *words]
    quiet = subprocess.DEVNULL
    started = subprocess.Popen(program, cwd=folder, env=environment, stdout=quiet, stderr=quiet)
    _, status, used = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, started.returncode


def show(title: str, found: dict[str, float], limit_s: float) -> int:
    """How many are above the limit."""
    ordered = sorted(found.items(), key=lambda each: -each[1])
    over = [name for name, taken in ordered if taken > limit_s]
    print(f"\n{title}: {len(found)}, {ordered[-1][1]:.2f} to {ordered[0][1]:.2f} s of a processor")
    for name, taken in ordered[: max(8, len(over))]:
        print(f"  {taken:.3f}  penstock {name}")
    return len(over)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=float, default=LIMIT_S)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"HOME": folder}

        def least(words: list[str]) -> float:
            runs = [processor_s(words, folder, environment) for _ in range(options.runs)]
            assert {code for _, code in runs} == {0}, words
            return min(taken for taken, _ in runs)

        names = list(commands(typer.main.get_command(app)))
        helped = {" ".join(each): least([*each, "--help"]) for each in names}
        with Cluster(Path(folder) / "nodes", 1) as node:
            environment["PENSTOCK_BOOTSTRAP_SERVERS"] = node.bootstrap_servers
            asked = {each: least(shlex.split(each)) for each in ASKED}
    over = show("with --help", helped, options.limit)
    over += show("asking a node", asked, options.limit)
    print(f"\nabove {options.limit} s: {over}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
