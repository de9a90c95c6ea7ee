"""librdkafka's share consumer as a member of a share group, and the settings of such a group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from confluent_kafka import AcknowledgeType, Message, ShareConsumer, TopicPartition

from penstock.metadata.config import ResourceType
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.conformance.clients.raw import Connection
from tests.conformance.clients.record import PATIENCE_SECONDS

Judge = Callable[[Message], AcknowledgeType | None]


class ShareMember:
    """Acknowledges each record as it is told to; None leaves it as it is."""

    def __init__(self, bootstrap_servers: str, group: str, topic: str, client_id: str) -> None:
        self.seen: list[tuple[bytes, int]] = []
        """Values with the number of their delivery."""
        self.waits: list[float] = []
        self._consumer = ShareConsumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": group,
                "client.id": client_id,
                "throttle_cb": lambda event: self.waits.append(event.throttle_time),
                "share.acknowledgement.mode": "explicit",
                "log_level": 0,
            }
        )
        self._consumer.subscribe([topic])

    @property
    def values(self) -> list[bytes]:
        return [value for value, _ in self.seen]

    def poll(self, judge: Judge | None = None) -> int:
        """The number of records. What is told of them is kept when this returns."""
        found = [one for one in self._consumer.poll(0.2) if one.error() is None]
        told = False
        for one in found:
            self.seen.append((one.value() or b"", one.delivery_count()))
            kind = AcknowledgeType.ACCEPT if judge is None else judge(one)
            if kind is not None:
                told = True
                self._consumer.acknowledge(one, kind)
        if told:
            self._commit()
        return len(found)

    def _commit(self) -> None:
        result: Mapping[TopicPartition, object] = self._consumer.commit_sync(PATIENCE_SECONDS)
        assert not [error for error in result.values() if error is not None], result

    def close(self) -> None:
        self._consumer.close()


@contextmanager
def share_member(
    bootstrap_servers: str, group: str, topic: str, client_id: str = "share-member"
) -> Iterator[ShareMember]:
    member = ShareMember(bootstrap_servers, group, topic, client_id)
    try:
        yield member
    finally:
        member.close()


def set_group(connection: Connection, group: str, **values: str) -> None:
    """Settings of a share group, with underscores for dots."""
    configs = [
        AlterableConfig(name=f"share.{name.replace('_', '.')}", value=value)
        for name, value in values.items()
    ]
    resource = AlterConfigsResource(
        resource_type=ResourceType.GROUP, resource_name=group, configs=configs
    )
    request = IncrementalAlterConfigsRequest(resources=[resource])
    (answer,) = connection.call(request, 1).responses
    assert not answer.error_code, answer.error_message
