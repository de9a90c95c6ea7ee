"""What the export of consumer lag costs: a thousand groups of ten partitions that commit, and ten
thousand idle groups.

python -m bench.lag [--groups 1000] [--partitions 10] [--idle 10000] [--rounds 2] [--seconds 15]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median
from threading import Event, Thread
from urllib.request import urlopen

from bench.load.child import Load, run_load
from bench.peer import FLUSH_OFF, PENSTOCK, Peer
from bench.process import cpu_seconds
from penstock.testing.port import free_port
from tools.penstock_broker import Penstock

COMMIT_EVERY_S = 5.0
"""Kafka's auto.commit.interval.ms."""
SCRAPE_EVERY_S = 15.0
"""As Prometheus is set up by most."""
SCRAPES = 10
SIZE = 1024


class ScrapedNode(Penstock):
    def __init__(self, data_dir: Path) -> None:
        super().__init__(data_dir)
        self.metrics = f"127.0.0.1:{free_port()}"

    def _options(self) -> list[str]:
        return [*super()._options(), "--metrics", self.metrics]

    def scrape(self) -> tuple[float, int]:
        """Seconds that it took, and bytes."""
        began = time.perf_counter()
        with urlopen(f"http://{self.metrics}/metrics", timeout=60) as answer:
            size = len(answer.read())
        return time.perf_counter() - began, size


class Scraper(Thread):
    def __init__(self, node: ScrapedNode) -> None:
        super().__init__(daemon=True)
        self._node = node
        self._ended = Event()

    def run(self) -> None:
        while not self._ended.wait(SCRAPE_EVERY_S / 2):
            self._node.scrape()
            self._ended.wait(SCRAPE_EVERY_S / 2)

    def stop(self) -> None:
        self._ended.set()
        self.join()


def cost_of_scrapes(node: ScrapedNode) -> tuple[float, float, int]:
    """Processor seconds of one, in the median of several; how long it took; its bytes."""
    spent, took, size = [], [], 0
    node.scrape()
    for _ in range(SCRAPES):
        time.sleep(0.5)
        before = cpu_seconds(node.pid)
        seconds, size = node.scrape()
        spent.append(cpu_seconds(node.pid) - before)
        took.append(seconds)
    return median(spent), median(took), size


def active(options: argparse.Namespace, folder: Path) -> None:
    node = ScrapedNode(folder / "active")
    with node:
        peer = Peer(PENSTOCK, node, FLUSH_OFF)
        topic = peer.create_topic(options.partitions)
        produce = {"bootstrap": node.bootstrap_servers, "topic": topic, "size": SIZE}
        first = run_load("produce", produce | {"count": 100_000}, timeout_s=120)
        count = int(100_000 / first["seconds"] * options.seconds)
        load = Load(
            "group_pace",
            {
                "port": node.port,
                "topic": topic,
                "groups": options.groups,
                "partitions": options.partitions,
                "interval_s": COMMIT_EVERY_S,
                "seconds": 2 * options.rounds * (options.seconds * 1.5 + 5) + 30,
            },
            timeout_s=900,
        )
        load.wait_ready()
        cpu, took, size = cost_of_scrapes(node)
        rates: dict[bool, list[float]] = {False: [], True: []}
        for number in range(2 * options.rounds):
            # First one, then the other, then the other way round.
            is_scraped = number % 4 in (1, 2)
            scraper = Scraper(node)
            if is_scraped:
                scraper.start()
            seconds = run_load("produce", produce | {"count": count}, timeout_s=300)["seconds"]
            if is_scraped:
                scraper.stop()
            rates[is_scraped].append(count / seconds)
        commits = load.result()["commits"]
    rows = options.groups * options.partitions
    print(f"{options.groups:,} groups of {options.partitions} partitions, {commits:,} commits:")
    print(f"  one scrape: {cpu:.3f} s of the processor, {took:.2f} s, {size / 1e6:.1f} MB")
    print(f"  every {SCRAPE_EVERY_S:.0f} s: {100 * cpu / SCRAPE_EVERY_S:.2f} % of one core")
    print(f"  of one of {rows:,} partitions: {1e6 * cpu / rows:.1f} us")
    if options.rounds:
        plain, scraped = median(rates[False]), median(rates[True])
        print(f"  produced a second, not scraped {plain:,.0f}, scraped {scraped:,.0f}")
        print(f"  scraped / not scraped: {scraped / plain:.3f}  (all: {rates})")


def idle(options: argparse.Namespace, folder: Path) -> None:
    node = ScrapedNode(folder / "idle")
    with node:
        peer = Peer(PENSTOCK, node, FLUSH_OFF)
        topic = peer.create_topic(1)
        nothing = cost_of_scrapes(node)[0]
        spec = {
            "port": node.port,
            "topic": topic,
            "groups": options.idle,
            "partitions": 1,
            "interval_s": 0.0,
            "seconds": 0.0,
        }
        run_load("group_pace", spec, timeout_s=300)
        cpu, took, size = cost_of_scrapes(node)
        before, began = cpu_seconds(node.pid), time.monotonic()
        time.sleep(5)
        rest = (cpu_seconds(node.pid) - before) / (time.monotonic() - began)
    print(f"{options.idle:,} idle groups:")
    print(f"  one scrape: {cpu:.3f} s of the processor, {took:.2f} s, {size / 1e6:.1f} MB")
    print(f"  one scrape without any group: {nothing:.3f} s")
    print(f"  every {SCRAPE_EVERY_S:.0f} s: {100 * cpu / SCRAPE_EVERY_S:.2f} % of one core")
    print(f"  between scrapes: {100 * rest:.2f} % of one core")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.lag", description="cost of lag's export")
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--partitions", type=int, default=10)
    parser.add_argument("--idle", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=2, help="0: no throughput")
    parser.add_argument("--seconds", type=float, default=15.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-lag-") as name:
        active(options, Path(name))
        idle(options, Path(name))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
