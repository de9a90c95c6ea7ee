"""Apache Kafka in the place of the broker that a pipeline's test gets: the same words for it.

What a test says to its broker goes through the protocol, so only starting and ending differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from penstock.testing.broker import Broker, BrokerError
from tools.brief_kafka import brief_kafka

# One coordinator's log instead of fifty, which Kafka takes seconds to create; a killed broker is
# let in again when its session is over.
SETTINGS = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "300",
}


class ApacheBroker(Broker):
    def __init__(self, data_dir: Path, settings: Mapping[str, object] | None = None) -> None:
        super().__init__(data_dir, settings)
        self._kafka = brief_kafka(data_dir, SETTINGS | self.settings)
        self.log_file = self._kafka.log_file
        self._is_started = False

    @property
    def bootstrap_servers(self) -> str:
        return self._kafka.bootstrap_servers

    @property
    def pid(self) -> int:
        return self._kafka.pid

    @property
    def running(self) -> bool:
        return self._is_started

    def start(self) -> None:
        if self._is_started:
            raise BrokerError("the broker is running already")
        self._kafka.start()
        self._is_started = True

    def stop(self) -> int:
        self._is_started = False
        self._kafka.stop()
        return 0

    def kill(self) -> None:
        self._is_started = False
        self._kafka.kill()
