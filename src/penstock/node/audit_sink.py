"""Where the audit log goes: a file, a topic, or both. Each has a backlog of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from penstock.coordinator.topic import MIN_ISR, CoordinatorTopic
from penstock.handlers.broker import Broker
from penstock.model.internal_topic import AUDIT_TOPIC
from penstock.node.topic_writer import Brokers, TopicWriter, UnwrittenError
from penstock.settings.config import BrokerConfig


class Sink(Protocol):
    name: str

    async def write(self, lines: Sequence[bytes]) -> None:
        """All of them, or UnwrittenError."""
        ...


class FileSink:
    """Opened for every write: whoever turns log files over just moves it away."""

    name = "file"

    def __init__(self, path: str) -> None:
        self._path = path

    async def write(self, lines: Sequence[bytes]) -> None:
        try:
            await asyncio.to_thread(self._append, b"".join(line + b"\n" for line in lines))
        except OSError as error:
            raise UnwrittenError(f"{self._path}: {error.strerror or error}") from error

    def _append(self, data: bytes) -> None:
        with open(self._path, "ab") as file:
            file.write(data)


class TopicSink:
    """The topic's one partition."""

    name = "topic"

    def __init__(self, broker: Broker, brokers: Brokers) -> None:
        config = broker.config
        self._writer = TopicWriter(AUDIT_TOPIC, lambda: audit_topic(config), broker, brokers)

    async def write(self, lines: Sequence[bytes]) -> None:
        await self._writer.write(lines)


def audit_topic(config: BrokerConfig) -> CoordinatorTopic:
    return CoordinatorTopic(
        AUDIT_TOPIC,
        1,
        int(config.get("penstock.audit.topic.replication.factor")),
        {
            "cleanup.policy": "delete",
            "compression.type": "zstd",
            "retention.ms": str(config.get("penstock.audit.topic.retention.ms")),
            MIN_ISR: "1",
        },
    )
