"""Apache Kafka with the listeners that a node of ours would have, for the same tests of clients."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from penstock.testing.broker import Broker
from tests.pipelines.apache_broker import ApacheBroker
from tests.target import target_name
from tools.apache_kafka import missing_prerequisite

LISTENERS, PROTOCOLS = "listeners", "listener.security.protocol.map"


class SecuredKafka(ApacheBroker):
    """Listens where its settings say, and in plain text beside that."""

    def __init__(self, data_dir: Path, settings: Mapping[str, object]) -> None:
        super().__init__(data_dir, settings)
        open_to_clients = f"{self.settings[LISTENERS]},PLAINTEXT://{self.bootstrap_servers}"
        controller = f"CONTROLLER://127.0.0.1:{self._kafka.controller_port}"
        protocols = self.settings.get(PROTOCOLS, "SASL_PLAINTEXT:SASL_PLAINTEXT")
        self._kafka.settings |= {
            LISTENERS: f"{open_to_clients},{controller}",
            "advertised.listeners": open_to_clients,
            "inter.broker.listener.name": "PLAINTEXT",
            PROTOCOLS: f"{protocols},PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        }


def kind_of_broker(config: pytest.Config) -> type[Broker]:
    """Three nodes with secured listeners have tests of their own, in `tests/security`."""
    target = target_name(config)
    if target == "cluster":
        pytest.skip("one node, of either kind")
    if target == "kafka" and (missing := missing_prerequisite()) is not None:
        pytest.skip(missing)
    return SecuredKafka if target == "kafka" else Broker
