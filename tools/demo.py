"""`make demo`: a broker, three nodes, a fraud detector and an order saga, told while they happen.

The broker is started, filled, shared by a group, killed and restarted. Of three nodes the one that
leads is killed under a producer. Then payments flow, Spark judges them, and the table shows it
live. Last, five services handle orders and are killed meanwhile. Numbers are measured while you
watch, on your machine. Ctrl-C ends everything that was started, and removes what was written.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType

from tools.demonstration.broker_story import tell_of_the_broker
from tools.demonstration.cluster_story import tell_of_the_cluster
from tools.demonstration.process import Broker
from tools.demonstration.telling import ClaimError, chapter, say, style

CACHE = Path(__file__).resolve().parent.parent / ".cache"
PARTS = BROKER, CLUSTER, FRAUD, SAGA = "broker", "cluster", "fraud", "saga"


def main() -> int:
    options = _parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    interrupts = _noted_interrupts()
    began = time.perf_counter()
    CACHE.mkdir(exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix="demo-", dir=CACHE) as folder:
            _tell(Path(folder), options)
    except ClaimError as error:
        print(f"\n  {style('31', str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return _end_early()
    except Exception:
        # A client that is taken down in that moment may lose the interrupt, and what comes next
        # fails in its place.
        if interrupts:
            return _end_early()
        raise
    print(f"\n  {style('2', f'stopped cleanly; {time.perf_counter() - began:.1f} s in all')}")
    _farewell()
    return 0


def _noted_interrupts() -> list[int]:
    noted: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        noted.append(number)
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, interrupt)
    return noted


def _end_early() -> int:
    print(f"\n  {style('2', 'ended early; everything is stopped and removed')}")
    return 130


def _tell(home: Path, options: argparse.Namespace) -> None:
    broker = Broker(home / "data")
    try:
        if BROKER in options.only:
            tell_of_the_broker(broker)
        if CLUSTER in options.only:
            tell_of_the_cluster(home)
        if FRAUD in options.only:
            _tell_of_fraud(broker, home, options)
        if SAGA in options.only:
            _tell_of_saga(broker, home)
    finally:
        broker.stop()


def _tell_of_fraud(broker: Broker, home: Path, options: argparse.Namespace) -> None:
    chapter("6  A fraud detector on Spark")
    missing = _missing()
    if missing is not None:
        say(f"not shown here: {missing}")
        return
    from tools.demonstration.fraud_story import Show

    if BROKER not in options.only:
        broker.start()
    Show(broker, home, options.seconds, options.rate).run()


def _tell_of_saga(broker: Broker, home: Path) -> None:
    from tools.demonstration.saga_story import tell_of_the_saga

    if not broker.is_running:
        broker.start()
    tell_of_the_saga(broker, home)


def _missing() -> str | None:
    """Why Spark cannot run here, in one line that says what to install; jars are fetched."""
    from penstock.pipelines.error import SetupError
    from penstock.pipelines.jar import ensure_jars
    from penstock.pipelines.java import require_java
    from penstock.pipelines.version import KAFKA

    try:
        require_java()
        ensure_jars(KAFKA)
    except SetupError as error:
        return str(error)
    return None


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="demo", description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=50.0, help="how long payments are watched")
    parser.add_argument("--rate", type=int, default=2_000, help="payments a second")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="parts of it")
    return parser.parse_args()


def _farewell() -> None:
    chapter("Try it yourself")
    for command in (
        "penstock start",
        "penstock cluster start --nodes 3",
        "penstock fraud generate --rate 1000",
        "penstock pipeline run fraud",
        "penstock consume fraud.reviews --follow",
        "penstock fraud rules list",
        "penstock dlq list",
        "penstock saga demo --kill",
    ):
        say(f".venv/bin/{command}")
    say("Any Kafka client works: point its bootstrap.servers at 127.0.0.1:9092.")


if __name__ == "__main__":
    sys.exit(main())
