"""The brokers that command line and client are tested against: Penstock and Apache Kafka.

Each is started once, by the first test that wants it, and ends with the test run.
"""

from __future__ import annotations

import atexit
import functools
import tempfile
from pathlib import Path

import pytest

from tools.brief_kafka import brief_kafka

TARGETS = [pytest.param("penstock"), pytest.param("kafka", marks=pytest.mark.java)]
SETTINGS = {
    "num.partitions": "3",
    "auto.create.topics.enable": "true",
    "group.initial.rebalance.delay.ms": "0",
    # Many records of tests are years old: a round of retention would take them meanwhile.
    "log.retention.check.interval.ms": "3600000",
}


@functools.cache
def bootstrap_servers(target: str) -> str:
    home = tempfile.TemporaryDirectory(prefix="penstock-test-")
    atexit.register(home.cleanup)
    data_dir = Path(home.name) / "data"
    return _kafka(data_dir) if target == "kafka" else _penstock(data_dir)


def _kafka(data_dir: Path) -> str:
    settings = SETTINGS | {"offsets.topic.num.partitions": "1"}
    broker = brief_kafka(data_dir, settings)
    atexit.register(broker.kill)
    broker.start()
    return broker.bootstrap_servers


def _penstock(data_dir: Path) -> str:
    from penstock.testing.broker import Broker
    from penstock.testing.nursery import Nursery

    # A nursery of its own: the plugin closes the shared one before this broker may end.
    nursery = Nursery()
    broker = Broker(data_dir, SETTINGS, nursery=nursery)
    atexit.register(nursery.close)
    atexit.register(broker.kill)
    broker.start()
    return broker.bootstrap_servers
