"""Two images of one cluster: each goes its own way, and what differs between them is known."""

from __future__ import annotations

from penstock.metadata import MetadataRecord
from penstock.metadata.config import ConfigResource
from penstock.metadata.image import ClusterImage
from penstock.protocol.messages.records.begin_transaction_record import BeginTransactionRecord
from penstock.protocol.messages.records.config_record import ConfigRecord
from penstock.protocol.messages.records.end_transaction_record import EndTransactionRecord
from penstock.protocol.messages.records.feature_level_record import FeatureLevelRecord
from penstock.protocol.messages.records.partition_change_record import PartitionChangeRecord
from penstock.protocol.messages.records.partition_record import PartitionRecord
from penstock.protocol.messages.records.register_broker_record import RegisterBrokerRecord
from penstock.protocol.messages.records.remove_topic_record import RemoveTopicRecord
from penstock.protocol.messages.records.topic_record import TopicRecord
from penstock.protocol.messages.records.user_scram_credential_record import (
    UserScramCredentialRecord,
)

A, B, C = b"a" * 16, b"b" * 16, b"c" * 16


def topic(name: str, topic_id: bytes, partitions: int = 1) -> list[MetadataRecord]:
    return [
        TopicRecord(name=name, topic_id=topic_id),
        *(
            PartitionRecord(partition_id=index, topic_id=topic_id, replicas=[1], isr=[1], leader=1)
            for index in range(partitions)
        ),
    ]


def image_of(*records: MetadataRecord) -> ClusterImage:
    image = ClusterImage()
    replay(image, *records)
    image.take_delta()
    return image


def replay(image: ClusterImage, *records: MetadataRecord) -> None:
    for record in records:
        image.replay(record, image.next_offset)


FIRST: list[MetadataRecord] = [
    FeatureLevelRecord(name="metadata.version", feature_level=30),
    RegisterBrokerRecord(broker_id=1, broker_epoch=5, incarnation_id=A),
    *topic("a", A, 2),
    *topic("b.c", B),
    ConfigRecord(resource_type=2, resource_name="a", name="retention.ms", value="1"),
    UserScramCredentialRecord(name="u", mechanism=1),
]


def test_a_copy_is_the_same_and_changes_alone() -> None:
    image = image_of(*FIRST)
    copy = image.copy()
    assert copy == image and copy.next_offset == image.next_offset
    assert not copy.take_delta()
    replay(
        copy,
        RemoveTopicRecord(topic_id=B),
        PartitionChangeRecord(topic_id=A, partition_id=0, leader=-1),
        ConfigRecord(resource_type=2, resource_name="a", name="retention.ms", value="2"),
        RegisterBrokerRecord(broker_id=2, broker_epoch=6, incarnation_id=B),
        UserScramCredentialRecord(name="v", mechanism=1),
        FeatureLevelRecord(name="metadata.version", feature_level=29),
    )
    assert image == image_of(*FIRST) and not image.take_delta()
    assert image.topics.colliding_with("b_c") == "b.c"
    assert copy.topics.colliding_with("b_c") is None


def test_a_copy_made_within_a_transaction_ends_it_by_itself() -> None:
    image = image_of(*FIRST, BeginTransactionRecord(name=""), *topic("c", C))
    copy = image.copy()
    assert copy.has_open_transaction
    replay(copy, EndTransactionRecord())
    assert "c" in copy.topics and "c" not in image.topics and image.has_open_transaction


def test_what_a_snapshot_changes_is_known() -> None:
    image = image_of(*FIRST)
    brokers = image.brokers
    other = image_of(
        FeatureLevelRecord(name="metadata.version", feature_level=30),
        RegisterBrokerRecord(broker_id=2, broker_epoch=9, incarnation_id=B),
        *topic("a", A, 3),
        PartitionChangeRecord(topic_id=A, partition_id=1, leader=-1),
        *topic("c", C),
        ConfigRecord(resource_type=2, resource_name="c", name="retention.ms", value="1"),
    )
    image.replace(other)
    assert image == other and image.brokers is brokers
    delta = image.take_delta()
    assert list(delta.topics_deleted) == [B] and list(delta.topics_created) == [C]
    assert delta.partitions_created == {A: {2}, C: {0}}
    assert delta.partitions_changed == {A: {1}}
    assert delta.brokers_changed == {1, 2}
    assert delta.configs_changed == {ConfigResource(2, "a"), ConfigResource(2, "c")}
    assert not delta.features_changed
    replay(other, RemoveTopicRecord(topic_id=C))
    assert "c" in image.topics


def test_the_same_again_is_no_change() -> None:
    image = image_of(*FIRST)
    image.replace(image_of(*FIRST))
    assert not image.take_delta()
