"""An image as the shortest list of records that makes it again, in an order that replays.

The order is Kafka's own: features first, so that a reader knows what the rest may contain.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.metadata.broker import BrokerImage
from penstock.metadata.image import ClusterImage
from penstock.metadata.partition import PartitionImage
from penstock.metadata.record import MetadataRecord
from penstock.metadata.topic import TopicImage
from penstock.metadata.version import METADATA_VERSION
from penstock.protocol.messages.records.config_record import ConfigRecord
from penstock.protocol.messages.records.feature_level_record import FeatureLevelRecord
from penstock.protocol.messages.records.partition_record import PartitionRecord
from penstock.protocol.messages.records.producer_ids_record import ProducerIdsRecord
from penstock.protocol.messages.records.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from penstock.protocol.messages.records.topic_record import TopicRecord


def image_records(image: ClusterImage) -> Iterator[MetadataRecord]:
    yield from _feature_records(image)
    for broker in image.brokers.values():
        yield broker_record(broker)
    yield from image.controllers.values()
    for topic in image.topics:
        yield from _topic_records(topic)
    for (type_, name), values in image.configs:
        for key, value in values.items():
            yield ConfigRecord(resource_type=type_, resource_name=name, name=key, value=value)
    if image.next_producer_id:
        yield ProducerIdsRecord(
            broker_id=-1, broker_epoch=-1, next_producer_id=image.next_producer_id
        )
    yield from image.security.records()


def _feature_records(image: ClusterImage) -> Iterator[MetadataRecord]:
    names = sorted(image.features, key=lambda name: (name != METADATA_VERSION, name))
    for name in names:
        yield FeatureLevelRecord(name=name, feature_level=image.features[name])


def _topic_records(topic: TopicImage) -> Iterator[MetadataRecord]:
    yield TopicRecord(name=topic.name, topic_id=topic.id)
    for index, partition in topic.partitions.items():
        yield partition_record(topic.id, index, partition)


def partition_record(topic_id: bytes, index: int, partition: PartitionImage) -> PartitionRecord:
    return PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=partition.replicas,
        isr=partition.isr,
        removing_replicas=partition.removing_replicas,
        adding_replicas=partition.adding_replicas,
        leader=partition.leader,
        leader_recovery_state=partition.leader_recovery_state,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        directories=partition.directories,
        # An empty list costs bytes in every record; absent means the same.
        eligible_leader_replicas=partition.elr or None,
        last_known_elr=partition.last_known_elr or None,
    )


def broker_record(broker: BrokerImage) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=broker.id,
        incarnation_id=broker.incarnation_id,
        broker_epoch=broker.epoch,
        end_points=[
            BrokerEndpoint(
                name=point.name,
                host=point.host,
                port=point.port,
                security_protocol=point.security_protocol,
            )
            for point in broker.endpoints
        ],
        features=[
            BrokerFeature(
                name=one.name,
                min_supported_version=one.min_level,
                max_supported_version=one.max_level,
            )
            for one in broker.features
        ],
        rack=broker.rack,
        fenced=broker.fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown,
        log_dirs=broker.log_dirs,
        cordoned_log_dirs=broker.cordoned_log_dirs,
    )
