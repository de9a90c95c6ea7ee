"""What a standby controller of Apache Kafka refuses to replay: it would end its process."""

from __future__ import annotations

from penstock.controller import SUPPORTED_FEATURES
from penstock.metadata import MetadataRecord
from penstock.protocol.messages.records.abort_transaction_record import AbortTransactionRecord
from penstock.protocol.messages.records.begin_transaction_record import BeginTransactionRecord
from penstock.protocol.messages.records.broker_registration_change_record import (
    BrokerRegistrationChangeRecord,
)
from penstock.protocol.messages.records.end_transaction_record import EndTransactionRecord
from penstock.protocol.messages.records.feature_level_record import FeatureLevelRecord
from penstock.protocol.messages.records.partition_change_record import PartitionChangeRecord
from penstock.protocol.messages.records.partition_record import PartitionRecord
from penstock.protocol.messages.records.producer_ids_record import ProducerIdsRecord
from penstock.protocol.messages.records.register_broker_record import RegisterBrokerRecord
from penstock.protocol.messages.records.remove_topic_record import RemoveTopicRecord
from penstock.protocol.messages.records.topic_record import TopicRecord
from penstock.protocol.messages.records.unregister_broker_record import UnregisterBrokerRecord


class Standby:
    """Keeps just enough to notice; told every record in order."""

    def __init__(self) -> None:
        self.names: dict[bytes, str] = {}
        self.replica_counts: dict[tuple[bytes, int], int] = {}
        self.epochs: dict[int, int] = {}
        self.directories: dict[bytes, int] = {}
        self.next_producer_id = 0
        self.in_transaction = False

    def replay(self, record: MetadataRecord) -> None:
        if isinstance(record, TopicRecord):
            assert record.name not in self.names.values(), "a topic made twice"
            self.names[record.topic_id] = record.name
        elif isinstance(record, RemoveTopicRecord):
            del self.names[record.topic_id]
        elif isinstance(record, PartitionRecord):
            assert record.topic_id in self.names
            assert len(record.directories or []) == len(record.replicas)
            self.replica_counts[record.topic_id, record.partition_id] = len(record.replicas)
        elif isinstance(record, PartitionChangeRecord):
            self._change_partition(record)
        elif isinstance(record, ProducerIdsRecord):
            assert record.next_producer_id > self.next_producer_id
            self.next_producer_id = record.next_producer_id
        elif isinstance(record, FeatureLevelRecord):
            low, high = SUPPORTED_FEATURES[record.name]
            assert record.feature_level == 0 or low <= record.feature_level <= high
        else:
            self._replay_other(record)

    def _change_partition(self, record: PartitionChangeRecord) -> None:
        key = record.topic_id, record.partition_id
        assert record.topic_id in self.names
        count = self.replica_counts[key]
        if record.replicas is not None:
            self.replica_counts[key] = count = len(record.replicas)
            assert record.directories is not None
        assert record.directories is None or len(record.directories) == count

    def _replay_other(self, record: MetadataRecord) -> None:
        if isinstance(record, RegisterBrokerRecord):
            self._own(record.broker_id, list(record.log_dirs))
            assert record.broker_epoch >= self.epochs.get(record.broker_id, -1)
            self.epochs[record.broker_id] = record.broker_epoch
        elif isinstance(record, BrokerRegistrationChangeRecord):
            assert self.epochs[record.broker_id] == record.broker_epoch
            if record.log_dirs:
                self._own(record.broker_id, record.log_dirs)
        elif isinstance(record, UnregisterBrokerRecord):
            assert self.epochs.pop(record.broker_id) == record.broker_epoch
            self._own(record.broker_id, [])
        elif isinstance(record, BeginTransactionRecord):
            assert not self.in_transaction
            self.in_transaction = True
        elif isinstance(record, EndTransactionRecord | AbortTransactionRecord):
            assert self.in_transaction
            self.in_transaction = False

    def _own(self, broker_id: int, directories: list[bytes]) -> None:
        for directory in [one for one, owner in self.directories.items() if owner == broker_id]:
            del self.directories[directory]
        for directory in directories:
            assert directory not in self.directories, "a directory with two owners"
            self.directories[directory] = broker_id
