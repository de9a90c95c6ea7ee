"""What it costs a node to write down its past: processor time and bytes of one record, with few
groups and with many that are all behind, and what a node at rest uses with and without it.

python -m bench.history [--groups 1000] [--partitions 10000] [--seconds 20]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from bench.doctor import commit, fill, topics_of
from bench.process import cpu_seconds, rss_mb
from penstock.cli.cluster import Cluster as CliCluster
from penstock.cli.history.reader import PastReader
from penstock.cli.operator.link import Link
from penstock.cli.profile import Target
from penstock.model.figures import MINUTES, encode_figures
from penstock.model.internal_topic import METRICS_TOPIC
from penstock.testing.broker import Broker

INTERVAL_S = 1.0
SETTINGS = {"penstock.metrics.topic.interval.ms": "1000"}
ON = {**SETTINGS, "penstock.metrics.topic.enable": "true"}


def rest(folder: Path, seconds: float) -> None:
    for words, settings in (("without", SETTINGS), ("with", ON)):
        with Broker(folder / words, settings) as broker:
            time.sleep(3)
            before = cpu_seconds(broker.pid)
            time.sleep(seconds)
            spent = (cpu_seconds(broker.pid) - before) / seconds
            size = rss_mb(broker.pid)
        print(f"at rest, {words} a past every second: {1e3 * spent:.1f} ms/s, {size:.1f} MB")


def many(options: argparse.Namespace, folder: Path) -> None:
    with Broker(folder / "many", ON) as broker:
        link = Link(CliCluster(Target(broker.bootstrap_servers), timeout_s=60))
        for each in topics_of(options):
            broker.create_topic(each, options.partitions // len(topics_of(options)), timeout_s=60)
        fill(link, topics_of(options))
        commit(link, options, 1)
        time.sleep(3)
        before, began = cpu_seconds(broker.pid), time.time()
        time.sleep(options.seconds)
        spent = cpu_seconds(broker.pid) - before
        everything = PastReader(link).read(MINUTES, 0)
        kept = [each for each in everything if each.until_ms > began * 1000]
        sizes = [len(encode_figures(each)) for each in kept]
        on_disk = sum(
            each.stat().st_size for each in (folder / "many" / f"{METRICS_TOPIC}-0").glob("*.log")
        )
        broker.kill()
    print(
        f"{options.groups:,} groups of {options.partitions // options.groups} partitions, all "
        f"behind: {1e3 * spent / max(len(kept), 1):.0f} ms of the processor a record, "
        f"{max(sizes, default=0):,} bytes of JSON, {on_disk / max(len(everything), 1):,.0f} on disk"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.history", description="cost of a past")
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--partitions", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-history-") as name:
        rest(Path(name), options.seconds)
        many(options, Path(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
