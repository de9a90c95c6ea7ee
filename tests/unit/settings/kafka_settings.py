"""Apache Kafka asked about settings: what it declares, and what it refuses at the start."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.apache_kafka import start_source

SOURCE = Path(__file__).parent / "KafkaSettings.java"

NODE = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.bootstrap.servers": "127.0.0.1:9093",
    "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
}
"""What Kafka cannot start without."""


class KafkaSettings:
    def __init__(self) -> None:
        self._process = start_source(SOURCE)

    def declared(self, resource: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._ask({"declared": resource})
        return found

    def complaint(self, settings: Mapping[str, str]) -> str | None:
        """What Kafka says of a node with these settings; None where it would start."""
        return self.complaint_of(NODE | dict(settings))

    def complaint_of(self, settings: Mapping[str, str]) -> str | None:
        """The same of settings that are whole."""
        said: str | None = self._ask({"check": dict(settings)})
        return said

    def close(self) -> None:
        with self._process as process:
            assert process.stdin is not None
            process.stdin.close()

    def _ask(self, request: object) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())
