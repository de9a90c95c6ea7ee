"""Penstock beside Apache Kafka, on this machine, in one run.

python -m bench [--only produce,latency] [--rounds 3] [--quick]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from bench import page as book
from bench import report
from bench.case.scale import FULL, QUICK
from bench.command import CANNOT_RUN, begin
from bench.machine import describe
from bench.peer import (
    KAFKA,
    PENSTOCK,
    PENSTOCK_FSYNC,
    PENSTOCK_UNREAD,
    Broker,
    Peer,
    new_broker,
    topic_settings,
)
from bench.schedule import GROUPS, Schedule

ROOT = Path(__file__).resolve().parent.parent
LATEST = ROOT / "bench" / "results" / "latest.json"
NOTES = Path(__file__).with_name("notes.md")
"""What the figures mean, by hand: to be read again after every run."""


def main() -> int:
    options = _parse()
    say = begin()
    if say is None:
        return CANNOT_RUN
    with _peers(options.peers.split(","), options.scratch) as peers:
        results = Schedule(
            peers,
            options.only.split(","),
            options.rounds,
            QUICK if options.quick else FULL,
            say,
        ).run()
    how: dict[str, Any] = {"rounds": options.rounds, "quick": options.quick, "only": options.only}
    machine = describe()
    if options.keep:
        earlier = json.loads(LATEST.read_text())
        how |= {"kept": report.keep(results, earlier, options.only.split(","))}
    page = report.as_page(results, machine, how) + "\n" + NOTES.read_text()
    print("\n" + page)
    answer = json.dumps(report.as_json(results, machine, how), indent=1) + "\n"
    whole = set(options.only.split(",")) == set(GROUPS) and not options.quick
    if whole or options.write:
        book.write_part(ROOT / "docs" / "benchmarks.md", book.BROKER, page)
        LATEST.parent.mkdir(exist_ok=True)
        LATEST.write_text(answer)
    elif options.json:
        options.json.write_text(answer)
    return 1 if results.failures else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default=",".join(GROUPS), help=f"some of {', '.join(GROUPS)}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it works")
    everyone = (KAFKA, PENSTOCK, PENSTOCK_FSYNC, PENSTOCK_UNREAD)
    parser.add_argument("--peers", default=",".join(everyone))
    parser.add_argument("--write", action="store_true", help="write the page for a partial run too")
    parser.add_argument(
        "--keep", action="store_true", help="keep figures of the last run that this one lacks"
    )
    parser.add_argument("--json", type=Path, help="where a partial run writes its values")
    parser.add_argument("--scratch", type=Path, help="where the brokers keep their data meanwhile")
    options = parser.parse_args()
    unknown = set(options.only.split(",")) - set(GROUPS)
    if unknown:
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    return options


@contextmanager
def _peers(names: list[str], scratch: Path | None) -> Iterator[list[Peer]]:
    """All brokers up at the same time, one process per system."""
    brokers: dict[str, Broker] = {}
    with ExitStack() as stack:
        folder = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-", dir=scratch))
        )
        for name in names:
            system = name.partition("-")[0]
            if system not in brokers:
                brokers[system] = new_broker(system, folder / system)
                stack.callback(brokers[system].stop)
                brokers[system].start()
        yield [Peer(name, brokers[name.partition("-")[0]], topic_settings(name)) for name in names]


if __name__ == "__main__":
    sys.exit(main())
