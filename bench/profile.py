"""Where a node spends its time under one workload.

    python -m bench.profile produce --size 100            Python functions, by cProfile
    python -m bench.profile produce --with perf           native symbols, by Linux's perf

cProfile slows Python calls down and leaves C alone: read it for shares and counts, not for speed.
"""

from __future__ import annotations

import argparse
import pstats
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from bench.case import (
    consume,
    group_commit,
    group_heartbeat,
    group_rebalance,
    idle,
    latency,
    produce,
    transaction,
)
from bench.case.scale import QUICK, Scale
from bench.peer import BROKER_SETTINGS, PENSTOCK, PENSTOCK_FSYNC, Peer, topic_settings
from tools.penstock_broker import Penstock, penstock_command

WORKLOADS: dict[str, Callable[[Peer, int, Scale], dict[str, float]]] = {
    "produce": produce.native,
    "produce-java": produce.java,
    "consume": lambda peer, _, scale: consume.consume(peer, scale),
    "ack": lambda peer, _, scale: latency.latency(peer, "ack", scale),
    "consumed": lambda peer, _, scale: latency.latency(peer, "consumed", scale),
    "idle": lambda peer, _, scale: idle.idle(peer, scale),
    "commit": lambda peer, _, scale: group_commit.commit(peer, scale),
    "rebalance": lambda peer, _, scale: group_rebalance.rebalance(peer, scale),
    "heartbeat": lambda peer, _, scale: group_heartbeat.measure(peer, scale),
    "transaction": lambda peer, _, scale: transaction.transaction(peer, scale),
}
SCALE = replace(
    QUICK,
    native_records={100: 1_500_000, 1024: 400_000},
    java_records={100: 500_000, 1024: 100_000},
    consume_records=300_000,
    latency_records=5_000,
    idle_consumers=1_000,
    transactions=1_000,
)


def main() -> int:
    options = parse("python -m bench.profile", WORKLOADS)
    name = PENSTOCK_FSYNC if options.fsync else PENSTOCK
    with tempfile.TemporaryDirectory(prefix="profile-") as scratch:
        folder = Path(scratch)
        stats = folder / "stats"
        command = traced_command(stats) if options.tool == "cprofile" else penstock_command()
        node = Penstock(folder / "data", BROKER_SETTINGS, command=command)
        node.start()
        try:
            peer = Peer(name, node, topic_settings(name))
            watch = start_perf(node.pid, stats) if options.tool == "perf" else None
            measured = WORKLOADS[options.workload](peer, options.size, SCALE)
        finally:
            node.stop()
        print(", ".join(f"{key} {value:.4g}" for key, value in measured.items()))
        show(stats, watch, options.rows)
    return 0


def parse(program: str, workloads: Iterable[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=program)
    parser.add_argument("workload", choices=list(workloads))
    parser.add_argument("--size", type=int, choices=produce.SIZES, default=produce.SIZES[0])
    parser.add_argument("--fsync", action="store_true", help="with fsync before ack")
    parser.add_argument("--with", dest="tool", choices=["cprofile", "perf"], default="cprofile")
    parser.add_argument("--rows", type=int, default=40)
    options = parser.parse_args()
    if options.tool == "perf" and not shutil.which("perf"):
        parser.error("perf not found: install your kernel's perf tools, or leave out --with")
    return options


def traced_command(stats: Path) -> list[str]:
    """The installed command under cProfile; `stats` is written when it ends."""
    return [sys.executable, "-m", "cProfile", "-o", str(stats), *penstock_command()]


def show(recording: Path, watch: subprocess.Popen[bytes] | None, rows: int) -> None:
    """Of a node that has ended: by perf, which watched it, or else by cProfile."""
    if watch:
        _show_perf(watch, recording, rows)
    else:
        _show_functions(recording, rows)


def _show_functions(stats: Path, rows: int) -> None:
    table = pstats.Stats(str(stats)).strip_dirs()
    table.sort_stats("tottime").print_stats(rows)
    table.sort_stats("cumulative").print_stats(rows)


def start_perf(pid: int, output: Path) -> subprocess.Popen[bytes]:
    command = ["perf", "record", "-F", "499", "-p", str(pid), "-o", str(output)]
    watch = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    return watch


def _show_perf(watch: subprocess.Popen[bytes], output: Path, rows: int) -> None:
    # It ends by itself with the process that it watches.
    watch.wait(30)
    shown = _read(["perf", "report", "--stdio", "--no-children", "-i", str(output)])
    lines = [line for line in shown if line.strip() and not line.startswith("#")]
    print("\n".join(lines[:rows]))


def _read(command: Sequence[str]) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout.splitlines()


if __name__ == "__main__":
    sys.exit(main())
