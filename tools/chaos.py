"""Kill, stop, pause and cut off the nodes of a loaded cluster, and look for what went wrong.

    python -m tools.chaos --seconds 7200
    python -m tools.chaos --nodes 5 --seed 17 --seconds 60

Exit code 0 when nothing was lost, duplicated, reordered, torn or different between replicas. The
long form writes its section of docs/reliability.md. With --fault the nodes are careless, and it
must fail.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from penstock.testing.cluster import Cluster
from penstock.testing.nursery import close_shared_nursery
from tools.cluster_chaos import fault, power
from tools.cluster_chaos.driver import Plan, run
from tools.cluster_chaos.fault import FAULTS
from tools.cluster_chaos.kafka_target import KafkaTarget
from tools.cluster_chaos.scenario import SCENARIOS
from tools.cluster_chaos.setup import NODE_SETTINGS


def main() -> int:
    options = _parse()
    # Told to stop, it must still end the processes that it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    began = time.monotonic()
    scratch = Path(tempfile.mkdtemp(prefix="chaos-", dir=options.scratch))
    keep = True
    try:
        cluster = _cluster(options, scratch)
        plan = Plan(
            seed=options.seed,
            seconds=options.seconds,
            rate=options.rate,
            scenario=SCENARIOS.get(options.scenario),
            power_fails=options.target == "penstock",
        )
        result = run(options.target, cluster, scratch, plan, lambda line: _say(began, line))
        keep = bool(result.violations)
    finally:
        close_shared_nursery()
        if not keep:
            shutil.rmtree(scratch, ignore_errors=True)
        else:
            print(f"logs, data and histories are in {scratch}")
    for violation in result.violations[:100]:
        print(violation)
    return 1 if result.violations else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="chaos", description=__doc__.partition("\n")[0])
    parser.add_argument("--target", choices=["penstock", "kafka"], default="penstock")
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=7200.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--rate", type=int, default=100, help="records per second")
    parser.add_argument("--fault", choices=FAULTS, help="make the nodes careless")
    parser.add_argument("--scenario", choices=SCENARIOS, help="in place of what dice say")
    parser.add_argument("--no-page", action="store_true", help="do not write docs/reliability.md")
    parser.add_argument("--scratch", type=Path, help="where to put the data meanwhile")
    return parser.parse_args()


def _cluster(options: argparse.Namespace, scratch: Path) -> Cluster:
    new = KafkaTarget if options.target == "kafka" else Cluster
    prepare = power.PREPARE if options.fault is None else fault.name_of(options.fault)
    return new(scratch / "cluster", options.nodes, NODE_SETTINGS, links=True, prepare=prepare)


def _say(began: float, line: str) -> None:
    print(f"[{time.monotonic() - began:6.1f} s] {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
