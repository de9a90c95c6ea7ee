"""Copy a topic in transactions while copiers and broker are killed, and look for what went wrong.

    python -m tools.eos --kills 200 --seconds 600

Exit code 0 when every record was copied exactly once. The long form writes its section of
docs/reliability.md. With --fault the copiers are careless, and it must fail.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
from pathlib import Path

from tools.apache_kafka import ApacheKafka
from tools.exactly_once.copier import FAULTS
from tools.exactly_once.driver import Plan, run
from tools.exactly_once.outcome import HEADING, Result, render
from tools.exactly_once.setup import BROKER_SETTINGS
from tools.page import write_section
from tools.penstock_broker import Penstock
from tools.progress import Progress

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reliability.md"
# What counts as the long form, whose figures the page may show.
LONG_KILLS = 40
LONG_SECONDS = 600.0


def main() -> int:
    options = _parse()
    # Told to stop, it must still end the processes that it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="eos-", dir=options.scratch) as folder:
        scratch = Path(folder)
        broker = _broker(options.target, scratch / "data")
        plan = Plan(
            seed=options.seed,
            kills=options.kills,
            seconds=options.seconds,
            copiers=options.copiers,
            rate=options.rate,
            fault=options.fault,
        )
        with Progress(scratch) as say:
            result = run(options.target, broker, scratch, plan, say)
        if result.violations:
            _keep_logs(broker, scratch)
    for violation in result.violations[:100]:
        print(violation)
    if _is_long(result, options) and not options.no_page:
        write_section(PAGE, "# Reliability", HEADING, render(result))
        print(f"wrote {PAGE.name}")
    return 1 if result.violations else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="eos", description=__doc__.partition("\n")[0])
    parser.add_argument("--target", choices=["penstock", "kafka"], default="penstock")
    parser.add_argument("--kills", type=int, default=LONG_KILLS)
    parser.add_argument("--seconds", type=float, default=LONG_SECONDS)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--copiers", type=int, default=4)
    parser.add_argument("--rate", type=int, default=200, help="records per second")
    parser.add_argument("--fault", choices=FAULTS, help="make the copiers careless")
    parser.add_argument("--no-page", action="store_true", help="do not write docs/reliability.md")
    parser.add_argument("--scratch", type=Path, help="where to put the data meanwhile")
    return parser.parse_args()


def _is_long(result: Result, options: argparse.Namespace) -> bool:
    enough = options.seconds >= LONG_SECONDS and result.kills >= LONG_KILLS
    return enough and result.target == "penstock" and result.fault is None


def _broker(target: str, data_dir: Path) -> ApacheKafka | Penstock:
    if target == "kafka":
        return ApacheKafka(data_dir, BROKER_SETTINGS)
    return Penstock(data_dir, BROKER_SETTINGS)


def _keep_logs(broker: ApacheKafka | Penstock, scratch: Path) -> None:
    for name, log in (("broker", broker.log_file), ("copiers", scratch / "copiers.out")):
        if log.exists():
            print(f"the last words of the {name}:\n{log.read_text(errors='replace')[-4000:]}")


if __name__ == "__main__":
    sys.exit(main())
