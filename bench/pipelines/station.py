"""One broker for one workload, with its topics: started fresh, ended whatever happens.

Only the broker under test runs: an idle one beside it would still take from the two cores.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from bench.peer import (
    BROKER_SETTINGS,
    FLUSH_OFF,
    PENSTOCK,
    Broker,
    Peer,
    new_broker,
    topic_settings,
)
from tools.penstock_broker import Penstock

# Penstock flushes before it acknowledges; here, like Kafka, it leaves that to the system.
_NO_FLUSH = {"log.flush.interval.messages": FLUSH_OFF["flush.messages"]}


@dataclass(frozen=True)
class Station:
    peer: Peer
    folder: Path

    @property
    def bootstrap(self) -> str:
        return self.peer.broker.bootstrap_servers

    def create(self, topics: Mapping[str, int], settings: Mapping[str, str] | None = None) -> None:
        config = dict(self.peer.topic_settings) | dict(settings or {})
        wanted = [
            NewTopic(name, num_partitions=partitions, replication_factor=1, config=config)
            for name, partitions in topics.items()
        ]
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 3})
        for made in admin.create_topics(wanted, request_timeout=60).values():
            made.result(timeout=90)


def _new(name: str, data: Path) -> Broker:
    if name == PENSTOCK:
        return Penstock(data, BROKER_SETTINGS | _NO_FLUSH)
    return new_broker(name.partition("-")[0], data)


@contextmanager
def station(name: str, scratch: Path | None) -> Iterator[Station]:
    with tempfile.TemporaryDirectory(
        prefix="bench-", dir=scratch, ignore_cleanup_errors=True
    ) as folder:
        data = Path(folder) / "broker"
        broker = _new(name, data)
        try:
            broker.start()
            peer = Peer(name, broker, topic_settings(name))
            peer.set_internal_flush()
            yield Station(peer, Path(folder))
        finally:
            broker.stop()
