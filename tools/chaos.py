"""Kill, stop, pause and cut off the nodes of a loaded cluster, and look for what went wrong.

    python -m tools.chaos --seconds 7200
    python -m tools.chaos --nodes 5 --seed 17 --seconds 60

A long run is one of many rounds, each with a new cluster and the next seed, judged at its end: so
memory and disk do not grow with its length. Exit code 0 when nothing was lost, duplicated,
reordered, torn or different between replicas. The long form writes its section of
docs/reliability.md. With --fault the nodes are careless, and it must fail.
"""

from __future__ import annotations

import argparse
import math
import random
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from penstock.testing.cluster import Cluster
from penstock.testing.nursery import close_shared_nursery
from tools.cluster_chaos import fault, power
from tools.cluster_chaos.driver import Plan, run
from tools.cluster_chaos.kafka_target import KafkaTarget
from tools.cluster_chaos.outcome import HEADING, Result, figures, render
from tools.cluster_chaos.scenario import SCENARIOS
from tools.cluster_chaos.setup import NODE_SETTINGS
from tools.page import write_section
from tools.progress import Progress

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reliability.md"
# What counts as the long form, whose figures the page may show.
LONG_SECONDS = 7200.0
ROUND_S = 600.0
KEPT_MAX = 3
"""Rounds of which data is kept, of those that went wrong: more would fill the disk."""


def main() -> int:
    options = _parse()
    # Told to stop, it must still end the processes that it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sizes = [int(size) for size in options.nodes.split(",")]
    count = max(len(sizes), math.ceil(options.seconds / ROUND_S))
    results: list[Result] = []
    try:
        for number in range(count):
            size, seed = sizes[number % len(sizes)], options.seed + number
            print(f"round {number + 1} of {count}: {size} nodes, seed {seed}", flush=True)
            wrong = sum(bool(result.violations) for result in results)
            results.append(
                _run(options, size, seed, options.seconds / count, keep=wrong < KEPT_MAX)
            )
    finally:
        close_shared_nursery()
        print("\n".join(figures(results)), flush=True)
    if _is_long(options) and not options.no_page:
        write_section(PAGE, "# Reliability", HEADING, render(results))
        print(f"wrote {PAGE.name}")
    return 1 if any(result.violations for result in results) else 0


def _run(
    options: argparse.Namespace, nodes: int, seed: int, seconds: float, *, keep: bool
) -> Result:
    scratch = Path(tempfile.mkdtemp(prefix="chaos-", dir=options.scratch))
    plan = Plan(
        seed=seed,
        seconds=seconds,
        rate=options.rate,
        scenario=SCENARIOS.get(options.scenario),
        power_fails=options.target == "penstock",
    )
    is_right = False
    try:
        with Progress(scratch) as say:
            result = run(options.target, _cluster(options, nodes, scratch), scratch, plan, say)
        is_right = not result.violations
    finally:
        if keep and not is_right:
            print(f"logs, data and histories are in {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)
    for violation in result.violations[:100]:
        print(violation)
    return result


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="chaos", description=__doc__.partition("\n")[0])
    parser.add_argument("--target", choices=["penstock", "kafka"], default="penstock")
    parser.add_argument("--nodes", default="3,5", help="sizes of clusters, one after the other")
    parser.add_argument("--seconds", type=float, default=LONG_SECONDS, help="of all together")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--rate", type=int, default=100, help="records per second")
    parser.add_argument("--fault", choices=fault.FAULTS, help="make the nodes careless")
    parser.add_argument("--scenario", choices=SCENARIOS, help="in place of what dice say")
    parser.add_argument("--no-page", action="store_true", help="do not write docs/reliability.md")
    parser.add_argument("--scratch", type=Path, help="where to put the data meanwhile")
    return parser.parse_args()


def _is_long(options: argparse.Namespace) -> bool:
    planted = options.fault is not None or options.scenario is not None
    return options.target == "penstock" and options.seconds >= LONG_SECONDS and not planted


def _cluster(options: argparse.Namespace, nodes: int, scratch: Path) -> Cluster:
    new = KafkaTarget if options.target == "kafka" else Cluster
    prepare = power.PREPARE if options.fault is None else fault.name_of(options.fault)
    return new(scratch / "cluster", nodes, NODE_SETTINGS, links=True, prepare=prepare)


if __name__ == "__main__":
    sys.exit(main())
