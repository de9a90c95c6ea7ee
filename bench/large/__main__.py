"""A cluster of hundreds of brokers, as far as its metadata goes: the real controller and image.

python -m bench.large [--brokers 200] [--partitions 500000] [--write]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.large import broker_side, controller_side
from bench.large.controller import REPLICAS
from bench.large.figure import Figure, table
from penstock.node.memory import settle_memory

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "scale.md"
BEGIN = "<!-- written by make bench-large -->\n"
END = "<!-- end -->\n"


def main() -> int:
    options = _parse()
    settle_memory()  # as a node does
    if options.load:
        print(*(one.as_line() for one in broker_side.measure(options.load)), sep="\n")
        return 0
    began = time.monotonic()

    def say(line: str) -> None:
        print(f"[{time.monotonic() - began:6.1f} s] {line}", flush=True)

    with tempfile.TemporaryDirectory(prefix="bench-large-") as folder:
        snapshot = Path(folder) / "snapshot"
        figures = controller_side.measure(options.brokers, options.partitions, snapshot, say)
        say("a broker loads the snapshot")
        figures += _in_own_process(snapshot)
    text = _head(options.brokers, options.partitions) + table(figures)
    print("\n" + text)
    if options.write:
        PAGE.write_text(_with_table(PAGE.read_text(), text))
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.large", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--brokers", type=int, default=200)
    parser.add_argument("--partitions", type=int, default=500_000)
    parser.add_argument("--write", action="store_true", help="into docs/scale.md")
    parser.add_argument("--load", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _in_own_process(snapshot: Path) -> list[Figure]:
    """Memory is a process's own."""
    command = [sys.executable, "-m", "bench.large", "--load", str(snapshot)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return [Figure.of_line(line) for line in done.stdout.splitlines()]


def _head(brokers: int, partitions: int) -> str:
    return (
        f"{brokers:,} brokers, {partitions:,} partitions with {REPLICAS} replicas: "
        f"a broker leads {partitions // brokers:,} and holds {partitions * REPLICAS // brokers:,}. "
        "Processor time of one core.\n\n"
    )


def _with_table(page: str, text: str) -> str:
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


if __name__ == "__main__":
    sys.exit(main())
