"""Records and offsets by admin calls."""

from __future__ import annotations

import pytest

from penstock.model.error import ErrorCode
from tests.conformance.clients.admin import Admin
from tests.conformance.clients.confluent import ConfluentClient
from tests.conformance.clients.record import BrokerError, Record, numbered
from tests.conformance.conftest import ADMINS, Cluster

LISTING = [name for name, kind in ADMINS.items() if hasattr(kind, "list_offset")]
START_MS = 1_700_000_000_000


@pytest.fixture
def filled(cluster: Cluster, topic: str) -> str:
    """Ten records, the newest time not the last."""
    shifts = [0, 1, 2, 3, 9, 5, 6, 7, 8, 4]
    records = [Record(b"v", timestamp=START_MS + shift * 1_000) for shift in shifts]
    ConfluentClient(cluster.bootstrap_servers).produce(topic, records)
    return topic


@pytest.mark.feature("Delete records before an offset")
def test_delete_records(admin_client: Admin, filled: str) -> None:
    assert admin_client.delete_records(filled, 4) == 4
    # What is gone already stays gone.
    assert admin_client.delete_records(filled, 2) == 4


@pytest.mark.feature("Delete all records up to the high watermark")
def test_delete_all_records(admin_client: Admin, cluster: Cluster, filled: str) -> None:
    assert admin_client.delete_records(filled, -1) == 10
    assert ConfluentClient(cluster.bootstrap_servers).bounds(filled) == (10, 10)


@pytest.mark.feature("Delete records past the end (OFFSET_OUT_OF_RANGE)")
def test_delete_records_past_end(admin_client: Admin, filled: str) -> None:
    with pytest.raises(BrokerError) as refused:
        admin_client.delete_records(filled, 11)
    assert refused.value.code == ErrorCode.OFFSET_OUT_OF_RANGE


@pytest.mark.feature("Delete records of a compacted topic (POLICY_VIOLATION)")
def test_delete_compacted_records(admin_client: Admin, cluster: Cluster, topic_name: str) -> None:
    admin_client.create_topic(topic_name, config={"cleanup.policy": "compact"})
    ConfluentClient(cluster.bootstrap_servers).produce(topic_name, numbered(3))
    with pytest.raises(BrokerError) as refused:
        admin_client.delete_records(topic_name, 1)
    assert refused.value.code == ErrorCode.POLICY_VIOLATION


@pytest.mark.feature("Delete records of a partition there is not")
@pytest.mark.parametrize("admin_client", ["confluent-kafka", "kafka-python"], indirect=True)
def test_delete_unknown_records(admin_client: Admin, topic: str) -> None:
    with pytest.raises(BrokerError):
        admin_client.delete_records(topic, 0, partition=7)


@pytest.mark.feature("List offsets: earliest and latest")
@pytest.mark.parametrize("admin_client", LISTING, indirect=True)
def test_earliest_and_latest(admin_client: Admin, filled: str) -> None:
    admin_client.delete_records(filled, 3)
    assert admin_client.list_offset(filled, "earliest") == (3, -1)
    assert admin_client.list_offset(filled, "latest") == (10, -1)


@pytest.mark.feature("List offsets: the record with the newest time")
@pytest.mark.parametrize("admin_client", LISTING, indirect=True)
def test_max_timestamp(admin_client: Admin, filled: str) -> None:
    assert admin_client.list_offset(filled, "max_timestamp") == (4, START_MS + 9_000)


@pytest.mark.feature("List offsets: newest time of an empty partition is unknown")
@pytest.mark.parametrize("admin_client", LISTING, indirect=True)
def test_max_timestamp_of_nothing(admin_client: Admin, topic: str) -> None:
    assert admin_client.list_offset(topic, "max_timestamp") == (-1, -1)


@pytest.mark.feature("List offsets: by time")
@pytest.mark.parametrize("admin_client", LISTING, indirect=True)
def test_by_time(admin_client: Admin, filled: str) -> None:
    assert admin_client.list_offset(filled, START_MS + 1_500) == (2, START_MS + 2_000)
    assert admin_client.list_offset(filled, START_MS + 3_500) == (4, START_MS + 9_000)
    assert admin_client.list_offset(filled, START_MS + 9_001) == (-1, -1)


@pytest.mark.feature("List offsets: earliest on local disk")
@pytest.mark.parametrize("admin_client", ["kafka-python"], indirect=True)
def test_earliest_local(admin_client: Admin, filled: str) -> None:
    admin_client.delete_records(filled, 3)
    assert admin_client.list_offset(filled, "earliest_local") == (3, -1)


@pytest.mark.feature("List offsets of a topic there is not (UNKNOWN_TOPIC_OR_PARTITION)")
@pytest.mark.parametrize("admin_client", ["kafka-python"], indirect=True)
def test_unknown_topic(admin_client: Admin, topic_name: str) -> None:
    with pytest.raises(BrokerError) as refused:
        admin_client.list_offset(topic_name, "latest")
    assert refused.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
