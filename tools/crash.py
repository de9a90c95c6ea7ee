"""Kill a loaded broker many times and check that nothing it acknowledged is lost.

    python -m tools.crash --kills 50

Exit code 0 when nothing is wrong. The long form writes its section of docs/reliability.md.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
from pathlib import Path

from tools.apache_kafka import ApacheKafka
from tools.durability.driver import Broker, Plan, run
from tools.durability.outcome import HEADING, render
from tools.durability.topic import BROKER_SETTINGS, KAFKA_SETTINGS, TOPICS
from tools.page import write_section
from tools.penstock_broker import Penstock
from tools.progress import Progress

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reliability.md"
# What counts as the long form, whose figures the page may show.
LONG_KILLS = 50


def main() -> int:
    options = _parse()
    # Told to stop, it must still end the broker that it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="crash-", dir=options.scratch) as scratch:
        broker = _broker(options.target, Path(scratch) / "data")
        plan = Plan(
            kills=options.kills,
            seed=options.seed,
            topics=[topic for topic in TOPICS if topic.name in options.topics.split(",")],
            churn=not options.no_churn,
            rate=options.rate,
            judge_files=not options.no_dump,
        )
        with Progress(Path(scratch)) as say:
            outcome = run(options.target, broker, plan, say)
        if outcome.violations:
            _keep_log(broker)
    for violation in outcome.violations[:100]:
        print(violation)
    if options.target == "penstock" and outcome.kills.total() >= LONG_KILLS and not options.no_page:
        write_section(PAGE, "# Reliability", HEADING, render(outcome))
        print(f"wrote {PAGE.name}")
    for topic in outcome.uncleaned:
        print(f"{topic}: nothing was ever cleaned up, so the kills did not meet it")
    return 1 if outcome.violations or outcome.uncleaned else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="crash", description=__doc__.partition("\n")[0])
    parser.add_argument("--target", choices=["penstock", "kafka"], default="penstock")
    parser.add_argument("--kills", type=int, default=LONG_KILLS)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--rate", type=int, default=1_000, help="records per second and topic")
    parser.add_argument("--topics", default=",".join(topic.name for topic in TOPICS))
    parser.add_argument("--no-churn", action="store_true", help="leave out topic creation")
    parser.add_argument("--no-dump", action="store_true", help="leave out DumpLogSegments")
    parser.add_argument("--no-page", action="store_true", help="do not write docs/reliability.md")
    parser.add_argument("--scratch", type=Path, help="where to put the data meanwhile")
    return parser.parse_args()


def _broker(target: str, data_dir: Path) -> Broker:
    if target == "kafka":
        return ApacheKafka(data_dir, KAFKA_SETTINGS)
    return Penstock(data_dir, BROKER_SETTINGS)


def _keep_log(broker: Broker) -> None:
    log = broker.data_dir.with_name(broker.data_dir.name + ".out")
    if log.exists():
        print(f"the broker's last words:\n{log.read_text(errors='replace')[-4000:]}")


if __name__ == "__main__":
    sys.exit(main())
