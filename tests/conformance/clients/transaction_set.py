"""The transactional producers of one test, closed at its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.conformance.clients.transactor import Transacting, Transactor
from tests.conformance.clients.transactor_aio import AioTransactor
from tests.conformance.clients.transactor_confluent import ConfluentTransactor
from tests.conformance.clients.transactor_kafka_python import KafkaPythonTransactor

TRANSACTORS: dict[str, Callable[[str, Transacting], Transactor]] = {
    "confluent-kafka": ConfluentTransactor,
    "kafka-python": KafkaPythonTransactor,
    "aiokafka": AioTransactor,
}


class TransactionSet:
    def __init__(self, bootstrap_servers: str) -> None:
        self._bootstrap = bootstrap_servers
        self._open: list[Transactor] = []

    def start(self, client_name: str, transactional_id: str, **how: Any) -> Transactor:
        kind = TRANSACTORS[client_name]
        transactor = kind(self._bootstrap, Transacting(transactional_id, **how))
        self._open.append(transactor)
        return transactor

    def close(self) -> None:
        while self._open:
            self._open.pop().close()
