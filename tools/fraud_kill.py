"""Kill the fraud detector and the broker under load, and prove one verdict for each payment.

    python -m tools.fraud_kill --kills 40 --seconds 600
    python -m tools.fraud_kill --calm --seconds 60 --rate 5000

Exit code 0 when every payment has exactly one verdict. The long form writes its section of
docs/reliability.md. Calm, nothing is killed: it measures recall and false alarms, and writes those.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
from pathlib import Path

from tools.apache_kafka import ApacheKafka
from tools.fraud.driver import BROKER_SETTINGS, Plan, run
from tools.fraud.outcome import ACCURACY_HEADING, HEADING, Result, render, render_accuracy
from tools.page import write_section
from tools.penstock_broker import Penstock
from tools.progress import Progress

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reliability.md"
# What counts as the long form, whose figures the page may show.
LONG_KILLS = 30
LONG_SECONDS = 600.0
CALM_PAYMENTS = 200_000


def main() -> int:
    options = _parse()
    # Told to stop, it must still end the processes that it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    kills = 0 if options.calm else options.kills
    with tempfile.TemporaryDirectory(prefix="fraud-", dir=options.scratch) as folder:
        broker = _broker(options.target, Path(folder) / "data")
        plan = Plan(
            seed=options.seed, kills=kills, seconds=options.seconds, rate=options.rate,
            accounts=options.accounts, longest_peace_s=options.peace, calm=options.calm,
            state_in=options.state,
        )  # fmt: skip
        with Progress(Path(folder)) as say:
            result = run(broker, Path(folder), plan, say)
    for violation in result.violations():
        print(violation)
    print(render(result).partition("### ")[2])
    if result.report.accuracy is not None:
        print(render_accuracy(result.report.accuracy, result.seed).partition("### ")[2])
    if not options.no_page:
        _write(result, options)
    return 0 if result.holds else 1


def _write(result: Result, options: argparse.Namespace) -> None:
    accuracy = result.report.accuracy
    if options.calm and accuracy is not None and result.report.payments >= CALM_PAYMENTS:
        section = render_accuracy(accuracy, result.seed)
        write_section(PAGE, "# Reliability", ACCURACY_HEADING, section)
        print(f"wrote {PAGE.name}")
    long = options.seconds >= LONG_SECONDS and result.kills >= LONG_KILLS
    long = long and options.state == "topic"
    if long and not options.calm and options.target == "penstock":
        write_section(PAGE, "# Reliability", HEADING, render(result))
        print(f"wrote {PAGE.name}")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fraud_kill", description=__doc__.partition("\n")[0])
    parser.add_argument("--target", choices=["penstock", "kafka"], default="penstock")
    parser.add_argument("--kills", type=int, default=LONG_KILLS)
    parser.add_argument("--seconds", type=float, default=LONG_SECONDS)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--rate", type=float, default=1000.0, help="payments per second")
    parser.add_argument("--accounts", type=int, default=10_000)
    parser.add_argument("--peace", type=float, default=25.0, help="longest time between kills")
    parser.add_argument("--calm", action="store_true", help="kill nothing, measure accuracy")
    parser.add_argument("--state", choices=["topic", "spark"], default="topic")
    parser.add_argument("--no-page", action="store_true", help="do not write docs/reliability.md")
    parser.add_argument("--scratch", type=Path, help="where to put the data meanwhile")
    return parser.parse_args()


def _broker(target: str, data_dir: Path) -> ApacheKafka | Penstock:
    if target == "kafka":
        return ApacheKafka(data_dir, BROKER_SETTINGS)
    return Penstock(data_dir, BROKER_SETTINGS)


if __name__ == "__main__":
    sys.exit(main())
