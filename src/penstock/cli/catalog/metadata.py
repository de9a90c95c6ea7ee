"""The metadata of a cluster as rows of the catalog.

One request for all topics and one for the brokers make a look. Settings of topics are asked for
where a topic is new, and of a part of the others with each look: in `_ROUNDS` looks all are seen.
Prints nothing, writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from penstock.cli.catalog.declaration import (
    BROKER,
    REPLICA,
    SLA,
    TOPIC,
    TOPIC_OWNER,
    TOPIC_SETTING,
    CatalogTable,
    Row,
    Rows,
)
from penstock.cli.failure import Failure
from penstock.cli.leader_call import Leaders, leaders_of, read_metadata
from penstock.cli.operator.link import Link
from penstock.cli.operator.reader import read_brokers
from penstock.cli.tenant_list import read_tenants
from penstock.model.sla import SLA_TOPIC
from penstock.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from penstock.protocol.messages.metadata import MetadataResponse, MetadataResponsePartition
from penstock.settings.tenant import Owners, Tenant

_TOPIC: Final = 2
_OWN: Final = 1
"""Where a setting's value comes from: the topic itself."""
_RETENTION: Final = "retention.ms"
RETENTION_MS: Final = 604_800_000
_ROUNDS: Final = 12
_PART_MIN: Final = 100
_REQUEST_TOPICS: Final = 200


class TopicSettings(NamedTuple):
    retention_ms: int = RETENTION_MS
    own: tuple[tuple[str, str | None], ...] = ()


class MetadataLook(NamedTuple):
    tables: dict[CatalogTable, Rows]
    topic_ids: dict[bytes, str]
    leaders: Leaders
    cluster_id: str


class MetadataReader:
    def __init__(self, link: Link) -> None:
        self._link = link
        self._settings: dict[str, TopicSettings] = {}
        self._turn: list[str] = []
        self._tenants: list[Tenant] = []

    def look(self) -> MetadataLook:
        metadata = read_metadata(self._link)
        brokers = read_brokers(self._link)
        for each in brokers.values():
            if not each.fenced:
                self._link.learn(each.id, each.host, each.port)
        topics = [each.name for each in metadata.topics if each.name and not each.error_code]
        self._renew(topics)
        tables: dict[CatalogTable, Rows] = {
            TOPIC: _by_key(TOPIC, self._topic_rows(metadata)),
            BROKER: _by_key(
                BROKER, ((b.id, b.host, b.port, b.rack, b.fenced) for b in brokers.values())
            ),
            REPLICA: _by_key(REPLICA, _replica_rows(metadata)),
            TOPIC_SETTING: _by_key(TOPIC_SETTING, self._setting_rows(topics)),
            TOPIC_OWNER: _by_key(TOPIC_OWNER, self._owner_rows(topics)),
            SLA: _by_key(SLA, self._sla_rows(topics)),
        }
        ids = {each.topic_id: each.name for each in metadata.topics if each.name}
        return MetadataLook(tables, ids, leaders_of(metadata), metadata.cluster_id or "")

    def _renew(self, topics: Sequence[str]) -> None:
        there = set(topics)
        new = [each for each in topics if each not in self._settings]
        if not self._turn:
            self._turn = list(topics)
            self._tenants = self._read_tenants()
        part = max(_PART_MIN, len(topics) // _ROUNDS + 1)
        asked = [*new, *(each for each in self._turn[:part] if each in there)]
        self._turn = self._turn[part:]
        self._settings = {name: each for name, each in self._settings.items() if name in there}
        self._settings |= describe_topics(self._link, list(dict.fromkeys(asked)))

    def _read_tenants(self) -> list[Tenant]:
        try:
            return read_tenants(self._link)
        except Failure:
            # Not everybody may see the settings of brokers.
            return []

    def _topic_rows(self, metadata: MetadataResponse) -> Iterator[Row]:
        for topic in metadata.topics:
            if topic.name and not topic.error_code:
                replicas = max((len(each.replica_nodes) for each in topic.partitions), default=0)
                kept = self._settings.get(topic.name, TopicSettings())
                yield topic.name, len(topic.partitions), replicas, kept.retention_ms

    def _setting_rows(self, topics: Iterable[str]) -> Iterator[Row]:
        for topic in topics:
            for name, value in self._settings.get(topic, TopicSettings()).own:
                yield topic, name, value

    def _owner_rows(self, topics: Iterable[str]) -> Iterator[Row]:
        owner_of = Owners(self._tenants)
        for topic in topics:
            tenant = owner_of(topic)
            if tenant is not None:
                yield topic, tenant.name, tenant.owner

    def _sla_rows(self, topics: Iterable[str]) -> Iterator[Row]:
        if SLA_TOPIC in topics:
            # What reads records is loaded where there are some.
            from penstock.cli.group.sla import read_slas

            for key, seconds in read_slas(self._link).items():
                yield key.kind, key.name, seconds


def describe_topics(link: Link, topics: Sequence[str]) -> dict[str, TopicSettings]:
    """Those that may not be described have the defaults."""
    found = {}
    for start in range(0, len(topics), _REQUEST_TOPICS):
        resources = [
            DescribeConfigsResource(
                resource_type=_TOPIC, resource_name=each, configuration_keys=None
            )
            for each in topics[start : start + _REQUEST_TOPICS]
        ]
        request = DescribeConfigsRequest(resources=resources)
        for result in link.call(request, DescribeConfigsResponse).results:
            found[result.resource_name] = _settings(result)
    return found


def _settings(result: DescribeConfigsResult) -> TopicSettings:
    if result.error_code:
        return TopicSettings()
    values = {each.name: each.value for each in result.configs}
    own = tuple(
        sorted((each.name, each.value) for each in result.configs if each.config_source == _OWN)
    )
    return TopicSettings(int(values.get(_RETENTION) or RETENTION_MS), own)


def _replica_rows(metadata: MetadataResponse) -> Iterator[Row]:
    for topic in metadata.topics:
        for each in topic.partitions:
            yield from _replicas(topic.name or "", each)


def _replicas(topic: str, partition: MetadataResponsePartition) -> Iterator[Row]:
    for index, broker in enumerate(partition.replica_nodes):
        yield (
            topic,
            partition.partition_index,
            broker,
            broker == partition.leader_id,
            broker in partition.isr_nodes,
            index == 0,
        )


def _by_key(table: CatalogTable, rows: Iterable[Row]) -> Rows:
    return {table.key_of(row): row for row in rows}
