"""A broker for one test file, of the kind under test: to be stopped, killed and started again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from penstock.testing.broker import Broker
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


@contextmanager
def own_broker(
    config: pytest.Config, data_dir: Path, settings: Mapping[str, str]
) -> Iterator[OwnBroker]:
    if target_name(config) == "penstock":
        with Broker(data_dir, settings) as penstock:
            yield penstock
        return
    reason = apache_kafka.missing_prerequisite()
    if reason is not None:
        pytest.skip(reason)
    with brief_kafka(data_dir, settings, start_timeout=START_SECONDS) as kafka:
        yield kafka


def bring_down_and_up(broker: OwnBroker) -> None:
    """Penstock is killed; a lone Apache Kafka, which may lose markers then, is stopped."""
    if isinstance(broker, Broker):
        broker.kill()
    else:
        broker.stop()
    broker.start()
