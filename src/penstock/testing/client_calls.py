"""What a test does with a broker or a cluster through a client: topics, records in, records out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.testing.record import Content, Outgoing, Record


class ClientCalls:
    @property
    def bootstrap_servers(self) -> str:
        raise NotImplementedError

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        config: Mapping[str, object] | None = None,
        *,
        replication_factor: int = -1,
        timeout_s: float = 30.0,
    ) -> None:
        from penstock.testing.record import create_topic

        settings = {key: setting_text(value) for key, value in (config or {}).items()}
        create_topic(
            self.bootstrap_servers, name, partitions, settings, timeout_s, replication_factor
        )

    def produce(
        self,
        topic: str,
        values: Content | Iterable[Outgoing],
        *,
        key: Content = None,
        partition: int | None = None,
        headers: Sequence[tuple[str, bytes | None]] = (),
        timestamp_ms: int | None = None,
        timeout_s: float = 30.0,
        settings: Mapping[str, Any] | None = None,
    ) -> list[Record]:
        """Send values, or (key, value) pairs, and wait for the acknowledgements.

        `settings` are librdkafka's.
        """
        from penstock.testing.record import produce_records

        return produce_records(
            self.bootstrap_servers,
            topic,
            values,
            key=key,
            partition=partition,
            headers=headers,
            timestamp_ms=timestamp_ms,
            timeout_s=timeout_s,
            settings=settings,
        )

    def read(
        self,
        topic: str,
        *,
        partition: int | None = None,
        start: int = 0,
        count: int | None = None,
        timeout_s: float = 30.0,
        settings: Mapping[str, Any] | None = None,
    ) -> list[Record]:
        """All records there are, or wait for `count` of them; by partition, then by offset."""
        from penstock.testing.record import read_records

        return read_records(
            self.bootstrap_servers,
            topic,
            partition=partition,
            start=start,
            count=count,
            timeout_s=timeout_s,
            settings=settings,
        )


def setting_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
