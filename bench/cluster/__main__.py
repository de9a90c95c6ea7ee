"""Three Penstock nodes beside three of Apache Kafka, on this machine, in one run.

python -m bench.cluster [--only produce,latency] [--rounds 3] [--quick]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from bench import report
from bench.cluster.scale import FULL, QUICK
from bench.cluster.schedule import ALL, GROUPS, Schedule
from bench.cluster.sheet import CLUSTER
from bench.command import CANNOT_RUN, begin
from bench.machine import describe
from bench.schedule import Results

ROOT = Path(__file__).resolve().parent.parent.parent
LATEST = ROOT / "bench" / "results" / "cluster.json"
PAGE = ROOT / "docs" / "benchmarks-cluster.md"
NOTES = Path(__file__).with_name("notes.md")
"""What the figures mean, by hand: to be read again after every run."""


def main() -> int:
    options = _parse()
    say = begin()
    if say is None:
        return CANNOT_RUN
    results = Schedule(
        options.peers.split(","),
        options.only.split(","),
        options.rounds,
        QUICK if options.quick else FULL,
        options.scratch,
        say,
    ).run()
    return _report(options, results)


def _report(options: argparse.Namespace, results: Results) -> int:
    groups = options.only.split(",")
    how: dict[str, Any] = {"rounds": options.rounds, "quick": options.quick, "only": options.only}
    if options.keep and LATEST.exists():
        how |= {"kept": report.keep(results, json.loads(LATEST.read_text()), groups)}
    machine = describe()
    page = report.as_page(results, machine, how, CLUSTER) + "\n" + NOTES.read_text()
    print("\n" + page)
    answer = json.dumps(report.as_json(results, machine, how, CLUSTER.metrics), indent=1) + "\n"
    whole = set(groups) == set(GROUPS) and not options.quick
    if whole or options.write:
        PAGE.write_text(page)
        LATEST.write_text(answer)
    elif options.json:
        options.json.write_text(answer)
    return 1 if results.failures else 0


def _parse() -> argparse.Namespace:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m bench.cluster", description=about)
    parser.add_argument("--only", default=",".join(GROUPS), help=f"some of {', '.join(GROUPS)}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it works")
    parser.add_argument("--peers", default=",".join(ALL))
    parser.add_argument("--write", action="store_true", help="write the page for a partial run too")
    parser.add_argument(
        "--keep", action="store_true", help="keep figures of the last run that this one lacks"
    )
    parser.add_argument("--json", type=Path, help="where a partial run writes its values")
    parser.add_argument("--scratch", type=Path, help="where the nodes keep their data meanwhile")
    options = parser.parse_args()
    unknown = set(options.only.split(",")) - set(GROUPS)
    unknown |= set(options.peers.split(",")) - set(ALL)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    return options


if __name__ == "__main__":
    sys.exit(main())
