"""`make demo`: a broker, three nodes and a fraud detector, told as a short story while it happens.

The broker is started, filled, shared by a group, killed and restarted. Of three nodes the one that
leads is killed under a producer. Then payments flow, Spark judges them, and the table shows it
live. Numbers are measured while you watch, on your machine. Ctrl-C ends everything that was
started, and removes what was written.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path

from tools.demonstration.broker_story import tell_of_the_broker
from tools.demonstration.cluster_story import tell_of_the_cluster
from tools.demonstration.process import Broker
from tools.demonstration.telling import ClaimError, chapter, say, style

CACHE = Path(__file__).resolve().parent.parent / ".cache"


def main() -> int:
    options = _parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    began = time.perf_counter()
    CACHE.mkdir(exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix="demo-", dir=CACHE) as folder:
            _tell(Path(folder), options)
    except ClaimError as error:
        print(f"\n  {style('31', str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\n  {style('2', 'ended early; everything is stopped and removed')}")
        return 130
    print(f"\n  {style('2', f'stopped cleanly; {time.perf_counter() - began:.1f} s in all')}")
    _farewell()
    return 0


def _tell(home: Path, options: argparse.Namespace) -> None:
    broker = Broker(home / "data")
    try:
        tell_of_the_broker(broker)
        tell_of_the_cluster(home)
        chapter("6  A fraud detector on Spark")
        missing = _missing()
        if missing is not None:
            say(f"not shown here: {missing}")
            return
        from tools.demonstration.fraud_story import Show

        Show(broker, home, options.seconds, options.rate).run()
    finally:
        broker.stop()


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
    ):
        say(f".venv/bin/{command}")
    say("Any Kafka client works: point its bootstrap.servers at 127.0.0.1:9092.")


if __name__ == "__main__":
    sys.exit(main())
