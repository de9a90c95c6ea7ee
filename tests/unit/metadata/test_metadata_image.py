"""The cluster image: what each record does to it, what it reports, what it costs."""

import time
import tracemalloc

import pytest

from penstock.metadata import (
    NO_LEADER,
    ClusterImage,
    ConfigResource,
    ResourceType,
    image_records,
)
from penstock.metadata.record import MetadataRecord
from penstock.model.error import InvariantError
from penstock.protocol.messages.records.abort_transaction_record import AbortTransactionRecord
from penstock.protocol.messages.records.access_control_entry_record import (
    AccessControlEntryRecord,
)
from penstock.protocol.messages.records.begin_transaction_record import BeginTransactionRecord
from penstock.protocol.messages.records.broker_registration_change_record import (
    BrokerRegistrationChangeRecord,
)
from penstock.protocol.messages.records.clear_elr_record import ClearElrRecord
from penstock.protocol.messages.records.client_quota_record import ClientQuotaRecord, EntityData
from penstock.protocol.messages.records.config_record import ConfigRecord
from penstock.protocol.messages.records.end_transaction_record import EndTransactionRecord
from penstock.protocol.messages.records.feature_level_record import FeatureLevelRecord
from penstock.protocol.messages.records.fence_broker_record import FenceBrokerRecord
from penstock.protocol.messages.records.no_op_record import NoOpRecord
from penstock.protocol.messages.records.partition_change_record import PartitionChangeRecord
from penstock.protocol.messages.records.partition_record import PartitionRecord
from penstock.protocol.messages.records.producer_ids_record import ProducerIdsRecord
from penstock.protocol.messages.records.register_broker_record import (
    BrokerEndpoint,
    RegisterBrokerRecord,
)
from penstock.protocol.messages.records.remove_access_control_entry_record import (
    RemoveAccessControlEntryRecord,
)
from penstock.protocol.messages.records.remove_topic_record import RemoveTopicRecord
from penstock.protocol.messages.records.topic_record import TopicRecord
from penstock.protocol.messages.records.unfence_broker_record import UnfenceBrokerRecord
from penstock.protocol.record_frame import decode_metadata_record, encode_metadata_record
from penstock.protocol.record_table import METADATA

ORDERS, OTHER = b"o" * 16, b"p" * 16
DIRECTORY = b"d" * 16


def replayed(*records: MetadataRecord) -> ClusterImage:
    image = ClusterImage()
    for offset, record in enumerate(records):
        image.replay(record, offset)
    return image


def partition(index: int = 0, topic_id: bytes = ORDERS, **fields: object) -> PartitionRecord:
    values: dict[str, object] = {
        "replicas": [1],
        "isr": [1],
        "leader": 1,
        "leader_epoch": 0,
        "partition_epoch": 0,
        "directories": [DIRECTORY],
    }
    return PartitionRecord(partition_id=index, topic_id=topic_id, **{**values, **fields})


def topic(name: str = "orders", topic_id: bytes = ORDERS) -> TopicRecord:
    return TopicRecord(name=name, topic_id=topic_id)


def test_a_topic_is_found_by_name_and_by_id() -> None:
    image = replayed(topic(), partition(0), partition(1))
    found = image.topics.get("orders")
    assert found is not None and found is image.topics.get_by_id(ORDERS)
    assert sorted(found.partitions) == [0, 1]
    assert image.topics.partition("orders", 1) == found.partitions[1]
    assert image.topics.partition("orders", 2) is None
    assert image.next_offset == 3


def test_a_removed_topic_takes_its_configs_with_it() -> None:
    config = ConfigRecord(
        resource_type=ResourceType.TOPIC, resource_name="orders", name="retention.ms", value="1"
    )
    image = replayed(topic(), config, partition())
    assert image.configs.topic("orders") == {"retention.ms": "1"}
    image.replay(RemoveTopicRecord(topic_id=ORDERS), 3)
    assert image == ClusterImage()


def test_naming_a_leader_raises_the_epoch_even_if_it_is_the_same() -> None:
    image = replayed(
        topic(),
        partition(replicas=[1, 2], isr=[1, 2]),
        PartitionChangeRecord(partition_id=0, topic_id=ORDERS, leader=1),
        PartitionChangeRecord(partition_id=0, topic_id=ORDERS, isr=[1]),
    )
    state = image.topics.partition("orders", 0)
    assert state is not None
    assert (state.leader, state.leader_epoch, state.partition_epoch) == (1, 1, 2)
    assert (state.isr, state.replicas) == ((1,), (1, 2))


def test_losing_and_regaining_the_only_replica() -> None:
    image = replayed(
        topic(),
        partition(),
        PartitionChangeRecord(
            partition_id=0,
            topic_id=ORDERS,
            isr=[],
            leader=NO_LEADER,
            eligible_leader_replicas=[1],
            last_known_elr=[1],
        ),
    )
    state = image.topics.partition("orders", 0)
    assert state is not None
    assert (state.leader, state.isr, state.elr, state.last_known_elr) == (-1, (), (1,), (1,))
    image.replay(ClearElrRecord(topic_name=""), 3)
    cleared = image.topics.partition("orders", 0)
    assert cleared is not None and (cleared.elr, cleared.partition_epoch) == ((), 2)


def test_names_that_metrics_cannot_tell_apart_are_known() -> None:
    image = replayed(topic("pay.ments"))
    assert image.topics.colliding_with("pay_ments") == "pay.ments"
    assert image.topics.colliding_with("payments") is None
    image.replay(RemoveTopicRecord(topic_id=ORDERS), 1)
    assert image.topics.colliding_with("pay_ments") is None


def test_a_null_value_deletes_a_config() -> None:
    def record(value: str | None) -> ConfigRecord:
        return ConfigRecord(resource_type=4, resource_name="", name="a", value=value)

    image = replayed(record("1"), record("2"))
    assert image.configs.broker(None) == {"a": "2"}
    image.replay(record(None), 2)
    assert image.configs.broker(None) == {} and len(image.configs) == 0


def broker(**fields: object) -> RegisterBrokerRecord:
    point = BrokerEndpoint(name="PLAINTEXT", host="h", port=9092)
    return RegisterBrokerRecord(
        broker_id=1, broker_epoch=5, end_points=[point], log_dirs=[DIRECTORY], **fields
    )


def test_a_broker_is_fenced_until_told_otherwise() -> None:
    image = replayed(broker())
    assert image.brokers[1].fenced and image.active_brokers == []
    image.replay(BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=5, fenced=-1), 1)
    assert image.brokers[1].is_active
    assert image.brokers[1].log_dirs == (DIRECTORY,)
    endpoint = image.brokers[1].endpoint("PLAINTEXT")
    assert endpoint is not None and endpoint.port == 9092
    image.replay(FenceBrokerRecord(id=1, epoch=5), 2)
    assert image.brokers[1].fenced
    image.replay(UnfenceBrokerRecord(id=1, epoch=5), 3)
    image.replay(
        BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=5, in_controlled_shutdown=1), 4
    )
    assert not image.brokers[1].is_active and not image.brokers[1].fenced


def test_feature_level_zero_means_gone() -> None:
    image = replayed(FeatureLevelRecord(name="group.version", feature_level=1))
    assert image.features == {"group.version": 1}
    image.replay(FeatureLevelRecord(name="group.version", feature_level=0), 1)
    assert image.features == {}


def test_a_transaction_counts_as_a_whole() -> None:
    image = replayed(BeginTransactionRecord(), topic(), partition())
    assert len(image.topics) == 0 and image.has_open_transaction
    image.replay(EndTransactionRecord(), 3)
    assert len(image.topics) == 1 and not image.has_open_transaction


def test_an_aborted_transaction_never_was() -> None:
    image = replayed(BeginTransactionRecord(), topic(), AbortTransactionRecord())
    assert image == ClusterImage() and not image.has_open_transaction
    assert not image.take_delta()


def test_records_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InvariantError, match="before making it"):
        replayed(partition())
    with pytest.raises(InvariantError, match="twice"):
        replayed(topic(), topic())
    with pytest.raises(InvariantError, match="never began"):
        replayed(EndTransactionRecord())
    with pytest.raises(InvariantError, match="before registering"):
        replayed(BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=5, fenced=-1))


def test_every_kind_of_record_a_log_may_hold_is_replayed() -> None:
    """Bare records of every kind: none may be unknown, whatever else is wrong with it."""
    for row in METADATA:
        try:
            replayed(row.entity()())
        except InvariantError as error:
            assert "unknown kind" not in str(error)


def test_kept_for_others() -> None:
    quota = ClientQuotaRecord(
        entity=[EntityData(entity_type="user", entity_name="alice")], key="rate", value=1.0
    )
    acl = AccessControlEntryRecord(id=ORDERS, resource_name="x")
    image = replayed(quota, acl, NoOpRecord())
    assert list(image_records(image)) == [quota, acl]
    removed = ClientQuotaRecord(entity=quota.entity, key="rate", value=0.0, remove=True)
    image.replay(removed, 3)
    image.replay(RemoveAccessControlEntryRecord(id=ORDERS), 4)
    assert list(image_records(image)) == []


def test_the_delta_tells_what_to_do() -> None:
    image = replayed(topic(), partition(0), topic("other", OTHER), partition(0, OTHER))
    image.take_delta()
    for offset, record in enumerate(
        [
            partition(1),
            PartitionChangeRecord(partition_id=0, topic_id=ORDERS, leader=1),
            PartitionChangeRecord(partition_id=1, topic_id=ORDERS, leader=1),
            RemoveTopicRecord(topic_id=OTHER),
            topic("brief", b"b" * 16),
            partition(0, b"b" * 16),
            RemoveTopicRecord(topic_id=b"b" * 16),
            ConfigRecord(resource_type=2, resource_name="orders", name="a", value="b"),
        ],
        4,
    ):
        image.replay(record, offset)
    delta = image.take_delta()
    assert delta.partitions_created == {ORDERS: {1}}
    assert delta.partitions_changed == {ORDERS: {0}}
    assert list(delta.topics_deleted) == [OTHER] and not delta.topics_created
    assert list(delta.topics_deleted[OTHER].partitions) == [0]
    assert delta.configs_changed == {ConfigResource(2, "orders")}
    assert not image.take_delta()


def test_a_snapshot_makes_the_same_image_again() -> None:
    image = replayed(
        FeatureLevelRecord(name="group.version", feature_level=1),
        FeatureLevelRecord(name="metadata.version", feature_level=30),
        broker(rack="r1"),
        topic(),
        partition(0, replicas=[1, 2], isr=[1]),
        partition(1),
        PartitionChangeRecord(
            partition_id=1, topic_id=ORDERS, isr=[], leader=-1, eligible_leader_replicas=[1]
        ),
        ConfigRecord(resource_type=2, resource_name="orders", name="a", value="b"),
        ProducerIdsRecord(broker_id=1, broker_epoch=5, next_producer_id=3000),
    )
    records = list(image_records(image))
    assert isinstance(records[0], FeatureLevelRecord) and records[0].name == "metadata.version"
    again = replayed(*(decode_metadata_record(encode_metadata_record(one)) for one in records))
    assert again == image
    again.replay(ProducerIdsRecord(next_producer_id=4000), 9)
    assert again != image


@pytest.mark.parametrize("topics", [1, 10_000])
def test_ten_thousand_partitions_are_cheap(topics: int) -> None:
    per_topic = 10_000 // topics
    records: list[MetadataRecord] = []
    for number in range(topics):
        topic_id = number.to_bytes(16, "big")
        records.append(topic(f"topic-{number}", topic_id))
        records += (partition(index, topic_id) for index in range(per_topic))
    started = time.process_time()
    replayed(*records)
    elapsed_s = time.process_time() - started
    tracemalloc.start()
    image = replayed(*records)
    image.take_delta()
    size_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert image.topics.partition_count() == 10_000
    assert size_bytes < 20_000_000
    assert elapsed_s < 2, "an order of magnitude over what it takes"
