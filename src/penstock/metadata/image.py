"""The whole cluster at one offset of its metadata log.

Owns the state that records make; `replay` is the only way in. Decides nothing, and whoever reads
it never changes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from penstock.metadata.broker import BrokerImage
from penstock.metadata.config import ConfigImage, ConfigResource, ResourceType
from penstock.metadata.delta import MetadataDelta
from penstock.metadata.difference import note_difference
from penstock.metadata.partition import PartitionImage
from penstock.metadata.record import MetadataRecord, RecordKind
from penstock.metadata.security import SecurityImage
from penstock.metadata.topic import TopicImage, TopicsImage
from penstock.metadata.transaction import TransactionBuffer
from penstock.model.error import InvariantError
from penstock.model.id import TopicId

if TYPE_CHECKING:
    from penstock.protocol.messages.records.broker_registration_change_record import (
        BrokerRegistrationChangeRecord,
    )
    from penstock.protocol.messages.records.clear_elr_record import ClearElrRecord
    from penstock.protocol.messages.records.config_record import ConfigRecord
    from penstock.protocol.messages.records.feature_level_record import FeatureLevelRecord
    from penstock.protocol.messages.records.fence_broker_record import FenceBrokerRecord
    from penstock.protocol.messages.records.partition_change_record import PartitionChangeRecord
    from penstock.protocol.messages.records.partition_record import PartitionRecord
    from penstock.protocol.messages.records.producer_ids_record import ProducerIdsRecord
    from penstock.protocol.messages.records.register_broker_record import RegisterBrokerRecord
    from penstock.protocol.messages.records.register_controller_record import (
        RegisterControllerRecord,
    )
    from penstock.protocol.messages.records.remove_topic_record import RemoveTopicRecord
    from penstock.protocol.messages.records.topic_record import TopicRecord
    from penstock.protocol.messages.records.unfence_broker_record import UnfenceBrokerRecord
    from penstock.protocol.messages.records.unregister_broker_record import UnregisterBrokerRecord

K = TypeVar("K")
V = TypeVar("V")


PartitionWatcher = Callable[[TopicId, int, PartitionImage | None, PartitionImage | None], None]
"""Told of a partition as it was and as it is; None where it is not there."""


class ClusterImage:
    def __init__(self) -> None:
        self.next_offset = 0
        """One past the last record replayed."""
        self.brokers: dict[int, BrokerImage] = {}
        self.controllers: dict[int, RegisterControllerRecord] = {}
        self.topics = TopicsImage()
        self.configs = ConfigImage()
        self.features: dict[str, int] = {}
        self.next_producer_id = 0
        self.security = SecurityImage()
        self.partition_watcher: PartitionWatcher | None = None
        """For whoever keeps an index beside the image: told of every change of a partition."""
        self._transaction = TransactionBuffer()
        self._delta = MetadataDelta()

    def __eq__(self, other: object) -> bool:
        """The same cluster; the offsets it was told at do not matter."""
        return isinstance(other, ClusterImage) and self._state() == other._state()

    __hash__ = None  # type: ignore[assignment]

    def _state(self) -> tuple[object, ...]:
        return (
            self.brokers,
            self.controllers,
            self.topics,
            self.configs,
            self.features,
            self.next_producer_id,
            self.security,
        )

    @property
    def has_open_transaction(self) -> bool:
        return self._transaction.is_open

    @property
    def active_brokers(self) -> list[BrokerImage]:
        return [broker for broker in self.brokers.values() if broker.is_active]

    def replay(self, record: MetadataRecord, offset: int) -> None:
        self.next_offset = offset + 1
        if not self._transaction.hold(record, offset):
            self._apply(record)

    def copy(self) -> ClusterImage:
        """Another image of the same cluster, that goes its own way from here."""
        other = ClusterImage()
        other._take_over(self)
        return other

    def replace(self, other: ClusterImage) -> None:
        """Show another image's cluster from now on, as after a snapshot. What differs is in the
        next delta; whoever holds this image goes on with it."""
        note_difference(self._delta, self, other)
        self._take_over(other)

    def _take_over(self, other: ClusterImage) -> None:
        self.next_offset = other.next_offset
        # In place: others look things up in them directly.
        _refill(self.brokers, other.brokers)
        _refill(self.controllers, other.controllers)
        _refill(self.features, other.features)
        self.topics.replace(other.topics)
        self.configs.replace(other.configs)
        self.next_producer_id = other.next_producer_id
        self.security.replace(other.security)
        self._transaction.replace(other._transaction)

    def take_delta(self) -> MetadataDelta:
        """What changed since the last time this was asked."""
        delta, self._delta = self._delta, MetadataDelta()
        return delta

    def _apply(self, record: MetadataRecord) -> None:
        handler = _HANDLERS.get(record.API_KEY)
        if handler is not None:
            handler(self, record)
            return
        security_handler = _SECURITY_HANDLERS.get(record.API_KEY)
        if security_handler is None:
            raise InvariantError(f"metadata record of unknown kind {record.API_KEY}")
        security_handler(self.security, record)
        if record.API_KEY == RecordKind.CLIENT_QUOTA:
            self._delta.quotas_changed = True

    # --- topics ---

    def _put_topic(self, record: TopicRecord) -> None:
        topic = TopicImage(record.name, record.topic_id)
        self.topics.add(topic)
        self._delta.note_topic_created(topic)

    def _put_partition(self, record: PartitionRecord) -> None:
        topic = self.topics.require(record.topic_id)
        index = record.partition_id
        before = topic.partitions.get(index)
        topic.partitions[index] = after = PartitionImage.of(record)
        self._delta.note_partition(topic.id, index, is_new=before is None)
        if self.partition_watcher is not None:
            self.partition_watcher(topic.id, index, before, after)

    def _change_partition(self, record: PartitionChangeRecord) -> None:
        topic = self.topics.require(record.topic_id)
        index = record.partition_id
        if index not in topic.partitions:
            raise InvariantError(f"metadata log changes {topic.name}-{index} before making it")
        before = topic.partitions[index]
        topic.partitions[index] = after = before.changed(record)
        self._delta.note_partition(topic.id, index, is_new=False)
        if self.partition_watcher is not None:
            self.partition_watcher(topic.id, index, before, after)

    def _remove_topic(self, record: RemoveTopicRecord) -> None:
        topic = self.topics.remove(record.topic_id)
        resource = ConfigResource(ResourceType.TOPIC, topic.name)
        if self.configs.drop(resource):
            self._delta.configs_changed.add(resource)
        self._delta.note_topic_deleted(topic)
        if self.partition_watcher is not None:
            for index, partition in topic.partitions.items():
                self.partition_watcher(topic.id, index, partition, None)

    def _clear_elr(self, record: ClearElrRecord) -> None:
        named = self.topics.get(record.topic_name)
        for topic in self.topics if not record.topic_name else [named] if named else []:
            for index, partition in topic.partitions.items():
                if partition.elr or partition.last_known_elr:
                    topic.partitions[index] = cleared = partition.without_elr()
                    self._delta.note_partition(topic.id, index, is_new=False)
                    if self.partition_watcher is not None:
                        self.partition_watcher(topic.id, index, partition, cleared)

    # --- configs, features, producer ids ---

    def _put_config(self, record: ConfigRecord) -> None:
        resource = ConfigResource(record.resource_type, record.resource_name)
        self.configs.put(resource, record.name, record.value)
        self._delta.configs_changed.add(resource)

    def _put_feature(self, record: FeatureLevelRecord) -> None:
        if record.feature_level == 0:
            self.features.pop(record.name, None)
        else:
            self.features[record.name] = record.feature_level
        self._delta.features_changed = True

    def _put_producer_ids(self, record: ProducerIdsRecord) -> None:
        self.next_producer_id = record.next_producer_id

    # --- nodes ---

    def _put_broker(self, record: RegisterBrokerRecord) -> None:
        self.brokers[record.broker_id] = BrokerImage.of(record)
        self._delta.brokers_changed.add(record.broker_id)

    def _change_broker(self, record: BrokerRegistrationChangeRecord) -> None:
        broker = self._require_broker(record.broker_id)
        self.brokers[broker.id] = broker.changed(record)
        self._delta.brokers_changed.add(broker.id)

    def _fence_broker(self, record: FenceBrokerRecord) -> None:
        self.brokers[record.id] = self._require_broker(record.id).with_fenced(True)
        self._delta.brokers_changed.add(record.id)

    def _unfence_broker(self, record: UnfenceBrokerRecord) -> None:
        self.brokers[record.id] = self._require_broker(record.id).with_fenced(False)
        self._delta.brokers_changed.add(record.id)

    def _remove_broker(self, record: UnregisterBrokerRecord) -> None:
        self.brokers.pop(record.broker_id, None)
        self._delta.brokers_changed.add(record.broker_id)

    def _put_controller(self, record: RegisterControllerRecord) -> None:
        self.controllers[record.controller_id] = record

    def _require_broker(self, broker_id: int) -> BrokerImage:
        broker = self.brokers.get(broker_id)
        if broker is None:
            raise InvariantError(f"metadata log changes broker {broker_id} before registering it")
        return broker

    # --- transactions ---

    def _begin_transaction(self, _record: MetadataRecord) -> None:
        self._transaction.begin()

    def _end_transaction(self, _record: MetadataRecord) -> None:
        for record, _offset in self._transaction.finish():
            self._apply(record)

    def _abort_transaction(self, _record: MetadataRecord) -> None:
        self._transaction.finish()


def _refill(mine: dict[K, V], theirs: dict[K, V]) -> None:
    mine.clear()
    mine.update(theirs)


def _ignore(_image: ClusterImage, _record: MetadataRecord) -> None:
    """Nothing to keep: a heartbeat of the log, or the end of a migration long done."""


_HANDLERS: dict[int | None, Callable[..., None]] = {
    RecordKind.REGISTER_BROKER: ClusterImage._put_broker,
    RecordKind.UNREGISTER_BROKER: ClusterImage._remove_broker,
    RecordKind.BROKER_REGISTRATION_CHANGE: ClusterImage._change_broker,
    RecordKind.FENCE_BROKER: ClusterImage._fence_broker,
    RecordKind.UNFENCE_BROKER: ClusterImage._unfence_broker,
    RecordKind.REGISTER_CONTROLLER: ClusterImage._put_controller,
    RecordKind.TOPIC: ClusterImage._put_topic,
    RecordKind.REMOVE_TOPIC: ClusterImage._remove_topic,
    RecordKind.PARTITION: ClusterImage._put_partition,
    RecordKind.PARTITION_CHANGE: ClusterImage._change_partition,
    RecordKind.CLEAR_ELR: ClusterImage._clear_elr,
    RecordKind.CONFIG: ClusterImage._put_config,
    RecordKind.FEATURE_LEVEL: ClusterImage._put_feature,
    RecordKind.PRODUCER_IDS: ClusterImage._put_producer_ids,
    RecordKind.BEGIN_TRANSACTION: ClusterImage._begin_transaction,
    RecordKind.END_TRANSACTION: ClusterImage._end_transaction,
    RecordKind.ABORT_TRANSACTION: ClusterImage._abort_transaction,
    RecordKind.NO_OP: _ignore,
    RecordKind.ZK_MIGRATION_STATE: _ignore,
}

_SECURITY_HANDLERS: dict[int | None, Callable[..., None]] = {
    RecordKind.CLIENT_QUOTA: SecurityImage.put_quota,
    RecordKind.ACCESS_CONTROL_ENTRY: SecurityImage.put_acl,
    RecordKind.REMOVE_ACCESS_CONTROL_ENTRY: SecurityImage.drop_acl,
    RecordKind.USER_SCRAM_CREDENTIAL: SecurityImage.put_scram,
    RecordKind.REMOVE_USER_SCRAM_CREDENTIAL: SecurityImage.drop_scram,
    RecordKind.DELEGATION_TOKEN: SecurityImage.put_token,
    RecordKind.REMOVE_DELEGATION_TOKEN: SecurityImage.drop_token,
}
