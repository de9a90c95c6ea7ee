"""`penstock sql` over JSON by time range and field, beside kafka-console-consumer | jq and Spark.

python -m bench.sql [--gigabytes 10] [--write]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from bench.command import CANNOT_RUN, begin
from bench.sql import peer
from bench.sql.fill import Filling, fill
from penstock.testing.broker import Broker
from tools.page import write_section

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "catalog.md"
HEADING = "## Speed"


def main() -> int:
    options = _parse()
    say = begin()
    if say is None:
        return CANNOT_RUN
    outcomes = []
    with (
        tempfile.TemporaryDirectory(prefix="bench-sql-") as folder,
        Broker(Path(folder) / "data") as broker,
    ):
        say(f"filling a topic with {options.gigabytes:g} GB of JSON")
        filling = fill(broker.bootstrap_servers, int(options.gigabytes * 1e9))
        say(f"{filling.records:,} records")
        for run in peer.PEERS:
            outcomes.append(run(broker.bootstrap_servers, filling, Path(folder)))
            say(f"{outcomes[-1].name}: {outcomes[-1].seconds:.1f} s, {outcomes[-1].answer}")
    if len({each.answer for each in outcomes}) != 1:
        say("the answers differ")
        return 1
    text = _table(outcomes, filling)
    print("\n" + text)
    if options.write:
        write_section(PAGE, "", HEADING, f"{HEADING}\n\n{text}")
    return 0


def _table(outcomes: list[peer.Outcome], filling: Filling) -> str:
    ours = outcomes[0].seconds
    size = f"{filling.bytes / 1e9:.1f} GB of JSON in {filling.records:,} records"
    lines = [
        f"{size}, of which a time range has half, and a field a tenth of that:",
        "",
        "| reader | seconds | beside `penstock sql` |",
        "| --- | --- | --- |",
    ]
    for each in outcomes:
        ratio = f"{each.seconds / ours:.1f} times as long" if each is not outcomes[0] else ""
        lines.append(f"| {each.name} | {each.seconds:.1f} | {ratio} |")
    return "\n".join(lines) + "\n"


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.sql", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--gigabytes", type=float, default=10.0)
    parser.add_argument("--write", action="store_true", help="into docs/catalog.md")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
