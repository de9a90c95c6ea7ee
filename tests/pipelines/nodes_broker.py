"""Three nodes in the place of the broker that a pipeline's test gets: the same words for them.

They stop, are killed and start all together.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from penstock.testing.broker import Broker, BrokerError
from penstock.testing.cluster import Cluster


class NodesBroker(Broker):
    def __init__(self, data_dir: Path, settings: Mapping[str, object] | None = None) -> None:
        super().__init__(data_dir, settings)
        self._cluster = Cluster(data_dir, settings=self.settings)
        self._is_started = False

    @property
    def bootstrap_servers(self) -> str:
        return self._cluster.bootstrap_servers

    @property
    def pid(self) -> int:
        raise BrokerError("three nodes are three processes")

    @property
    def running(self) -> bool:
        return self._is_started

    def start(self) -> None:
        if self._is_started:
            raise BrokerError("the nodes are running already")
        self._cluster.start_all()
        self._is_started = True

    def stop(self) -> int:
        self._is_started = False
        self._cluster.stop_all()
        return 0

    def kill(self) -> None:
        self._is_started = False
        self._cluster.kill_all()
