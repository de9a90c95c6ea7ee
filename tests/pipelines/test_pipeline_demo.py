"""`make demo` as a whole: short, interrupted, and without Java."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from confluent_kafka import Producer

from penstock.testing.broker import Broker
from tools.demonstration.watch import Reader
from tools.detector import descendants, wait_gone

CHECKOUT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.timeout(600)


def start(*options: str, environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tools.demo", *options],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | (environment or {}),
        start_new_session=True,
    )


def leftovers(before: set[Path]) -> set[Path]:
    return set((CHECKOUT / ".cache").glob("demo-*")) - before


@pytest.mark.java
def test_the_demo_shows_the_detector_at_work() -> None:
    before = leftovers(set())
    demo = start("--seconds", "12", "--rate", "300")
    said, _ = demo.communicate(timeout=580)
    assert demo.returncode == 0, said
    for part in (
        "kill -9 while producing",
        "three nodes ready and in sync after",
        "the producer heard nothing for",
        "yes: nothing that was acknowledged is lost",
        "yes: each is there once, in the order it was sent",
        "waiting for the first verdicts: Python starts",
        "waiting for the first verdicts: Spark starts in its Java process",
        "waiting for the first verdicts: the query runs",
        "waiting for the first verdicts: done in",
        "lag of the detector",
        "analytics joins",
        "fraud rules set watch-list",
        "yes: every payment has exactly one verdict",
        "yes: the audit, which followed live, saw none twice",
        "yes: every order came to an end that its history explains",
        "stopped cleanly",
    ):
        assert part in said
    assert leftovers(before) == set()


@pytest.mark.parametrize(
    ("part", "said", "count"),
    [
        # Who runs the nodes, and the three of them.
        pytest.param("cluster", "led by node", 4, id="three nodes"),
        # The broker, the generator and the detector.
        pytest.param("fraud", "pipeline run fraud", 3, id="detector", marks=pytest.mark.java),
        # The broker and the services.
        pytest.param("saga", "kill -9 of inventory and payment", 6, id="saga"),
    ],
)
def test_ctrl_c_ends_all_of_it(part: str, said: str, count: int) -> None:
    before = leftovers(set())
    demo = start("--only", part, "--seconds", "300", "--rate", "100")
    assert demo.stdout is not None
    for line in demo.stdout:
        if said in line:
            break
    deadline = time.monotonic() + 120
    while len(children := descendants(demo.pid)) < count:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    demo.send_signal(signal.SIGINT)
    rest, _ = demo.communicate(timeout=240)
    assert demo.returncode == 130, rest
    assert "everything is stopped and removed" in rest
    assert wait_gone(children, 20)
    assert leftovers(before) == set()


def test_without_java_the_broker_is_shown_all_the_same(tmp_path: Path) -> None:
    environment = {"JAVA_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    demo = start("--only", "broker", "fraud", environment=environment)
    said, _ = demo.communicate(timeout=240)
    assert demo.returncode == 0, said
    assert "yes: every acknowledged record is still there" in said
    line = next(line for line in said.splitlines() if "not shown here" in line)
    assert "install" in line.lower()


def test_the_live_view_counts_records_and_not_markers(penstock: Broker) -> None:
    penstock.create_topic("dead")
    producer = Producer(
        {"bootstrap.servers": penstock.bootstrap_servers, "transactional.id": "pipeline"}
    )
    producer.init_transactions(20)
    for number in range(3):
        producer.begin_transaction()
        producer.produce("dead", f"{number}")
        producer.commit_transaction(20)
    penstock.produce("dead", ["last"])
    came: list[bytes] = []
    reader = Reader(
        penstock.bootstrap_servers, "dead", lambda found: came.extend(one.value() for one in found)
    )
    reader.start()
    try:
        deadline = time.monotonic() + 60
        while b"last" not in came:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        reader.stop()
    assert (reader.read, came) == (4, [b"0", b"1", b"2", b"last"])
