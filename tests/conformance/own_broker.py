"""A broker for one test file, of the kind under test: to be stopped, killed and started again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from penstock.testing.broker import Broker
from penstock.testing.cluster import Cluster
from tests.conformance.conftest import START_SECONDS
from tests.target import target_name
from tools import apache_kafka
from tools.brief_kafka import brief_kafka


class OwnBroker(Protocol):
    """What both can be told. After `start` the address is the one before."""

    @property
    def bootstrap_servers(self) -> str: ...
    def start(self) -> None: ...
    def stop(self) -> object: ...
    def kill(self) -> None: ...
    def restart(self) -> None: ...


class OwnNodes:
    """Three of them, which stop, are killed and start all together."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self.cluster = Cluster(folder, settings=settings)
        self.bootstrap_servers = self.cluster.bootstrap_servers

    def start(self) -> None:
        self.cluster.start_all()

    def stop(self) -> None:
        self.cluster.stop_all()

    def kill(self) -> None:
        self.cluster.kill_all()

    def restart(self) -> None:
        self.stop()
        self.start()


@contextmanager
def own_broker(
    config: pytest.Config, data_dir: Path, settings: Mapping[str, str]
) -> Iterator[OwnBroker]:
    target = target_name(config)
    if target == "penstock":
        with Broker(data_dir, settings) as penstock:
            yield penstock
        return
    if target == "cluster":
        nodes = OwnNodes(data_dir, settings)
        try:
            nodes.start()
            yield nodes
        finally:
            nodes.kill()
        return
    reason = apache_kafka.missing_prerequisite()
    if reason is not None:
        pytest.skip(reason)
    with brief_kafka(data_dir, settings, start_timeout=START_SECONDS) as kafka:
        yield kafka


def bring_down_and_up(broker: OwnBroker) -> None:
    """Penstock is killed; a lone Apache Kafka, which may lose markers then, is stopped."""
    if isinstance(broker, Broker | OwnNodes):
        broker.kill()
    else:
        broker.stop()
    broker.start()
