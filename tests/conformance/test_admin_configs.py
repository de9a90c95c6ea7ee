"""Settings of topics and brokers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.model.error import ErrorCode
from tests.conformance.clients.admin import Admin, Change
from tests.conformance.clients.record import BrokerError
from tests.conformance.conftest import ADMINS, Cluster
from tests.patience import wait_until

INCREMENTAL = [name for name, kind in ADMINS.items() if hasattr(kind, "change_config")]

# Kafka 4.3's settings of a topic and their defaults, where no broker setting says otherwise.
TOPIC_DEFAULTS = {
    "cleanup.policy": "delete",
    "compression.gzip.level": "-1",
    "compression.lz4.level": "9",
    "compression.type": "producer",
    "compression.zstd.level": "3",
    "delete.retention.ms": "86400000",
    "file.delete.delay.ms": "60000",
    "index.interval.bytes": "4096",
    "local.retention.bytes": "-2",
    "local.retention.ms": "-2",
    "max.compaction.lag.ms": "9223372036854775807",
    "max.message.bytes": "1048588",
    "message.timestamp.after.max.ms": "3600000",
    "message.timestamp.before.max.ms": "9223372036854775807",
    "message.timestamp.type": "CreateTime",
    "min.cleanable.dirty.ratio": "0.5",
    "min.compaction.lag.ms": "0",
    "min.insync.replicas": "1",
    "preallocate": "false",
    "remote.storage.enable": "false",
    "retention.bytes": "-1",
    "retention.ms": "604800000",
    "segment.bytes": "1073741824",
    "segment.index.bytes": "10485760",
    "segment.jitter.ms": "0",
    "segment.ms": "604800000",
    "unclean.leader.election.enable": "false",
}


@pytest.mark.feature("Describe a topic's settings with their defaults")
def test_topic_defaults(admin_client: Admin, cluster: Cluster, topic: str) -> None:
    found = admin_client.describe_config("TOPIC", topic)
    in_sync = "1" if len(cluster.broker_ids) == 1 else "2"
    expected = TOPIC_DEFAULTS | {"min.insync.replicas": in_sync}
    assert {key: found[key].value for key in TOPIC_DEFAULTS} == expected
    # A new Kafka cluster keeps min.insync.replicas as a default for all brokers.
    other = [entry for key, entry in found.items() if key != "min.insync.replicas"]
    assert {entry.source for entry in other} == {"DEFAULT_CONFIG"}
    assert not any(entry.read_only or entry.sensitive for entry in found.values())


@pytest.mark.feature("Describe a broker's settings and where they come from")
def test_broker_settings(admin_client: Admin, cluster: Cluster) -> None:
    found = admin_client.describe_config("BROKER", str(cluster.broker_id))
    assert found["num.partitions"].value == "3"
    assert found["num.partitions"].source == "STATIC_BROKER_CONFIG"
    assert found["num.partitions"].read_only
    assert found["advertised.listeners"].source == "STATIC_BROKER_CONFIG"
    first = cluster.bootstrap_servers.partition(",")[0]
    assert f"PLAINTEXT://{first}" in found["advertised.listeners"].value
    assert found["log.retention.ms"].source == "DEFAULT_CONFIG"
    assert not found["log.retention.ms"].read_only
    assert found["message.max.bytes"].value == "1048588"
    assert found["log.segment.bytes"].value == "1073741824"
    assert {"node.id", "log.dirs", "listeners", "socket.request.max.bytes"} <= set(found)


@pytest.mark.feature("Describe a topic there is not (UNKNOWN_TOPIC_OR_PARTITION)")
@pytest.mark.parametrize("admin_client", ["confluent-kafka", "aiokafka"], indirect=True)
def test_describe_unknown_topic(admin_client: Admin, topic_name: str) -> None:
    with pytest.raises(BrokerError) as refused:
        admin_client.describe_config("TOPIC", topic_name)
    assert refused.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.feature("Replace all settings of a topic (AlterConfigs)")
@pytest.mark.parametrize("admin_client", ["confluent-kafka", "aiokafka"], indirect=True)
def test_replace(admin_client: Admin, make_topic: Callable[..., str]) -> None:
    topic = make_topic(retention_ms="1000000", segment_ms="2000000")
    admin_client.replace_config("TOPIC", topic, {"retention.ms": "3000000"})
    wait_for(admin_client, "TOPIC", topic, "retention.ms", "3000000", "DYNAMIC_TOPIC_CONFIG")
    wait_for(admin_client, "TOPIC", topic, "segment.ms", "604800000", "DEFAULT_CONFIG")


@pytest.mark.feature("Replace settings with what Kafka refuses (INVALID_CONFIG)")
def test_replace_invalid(admin_client: Admin, topic: str) -> None:
    with pytest.raises(BrokerError) as refused:
        admin_client.replace_config("TOPIC", topic, {"retention.ms": "soon"})
    assert refused.value.code == ErrorCode.INVALID_CONFIG


def wait_for(admin_client: Admin, kind: str, name: str, key: str, value: str, source: str) -> None:
    """A change is acknowledged by the controller; the broker shows it a moment later."""

    def shown() -> bool:
        entry = admin_client.describe_config(kind, name)[key]
        return (entry.value, entry.source) == (value, source)

    wait_until(shown)


@pytest.mark.feature("Set and delete one setting (IncrementalAlterConfigs)")
@pytest.mark.parametrize("admin_client", INCREMENTAL, indirect=True)
def test_set_and_delete(admin_client: Admin, make_topic: Callable[..., str]) -> None:
    topic = make_topic(segment_ms="2000000")
    admin_client.change_config("TOPIC", topic, [("SET", "retention.ms", "5000000")])
    wait_for(admin_client, "TOPIC", topic, "retention.ms", "5000000", "DYNAMIC_TOPIC_CONFIG")
    wait_for(admin_client, "TOPIC", topic, "segment.ms", "2000000", "DYNAMIC_TOPIC_CONFIG")
    admin_client.change_config("TOPIC", topic, [("DELETE", "retention.ms", None)])
    wait_for(admin_client, "TOPIC", topic, "retention.ms", "604800000", "DEFAULT_CONFIG")


@pytest.mark.feature("Append to and subtract from a list setting")
@pytest.mark.parametrize("admin_client", INCREMENTAL, indirect=True)
def test_append_and_subtract(admin_client: Admin, topic: str) -> None:
    key, source = "cleanup.policy", "DYNAMIC_TOPIC_CONFIG"
    admin_client.change_config("TOPIC", topic, [("APPEND", key, "compact")])
    wait_for(admin_client, "TOPIC", topic, key, "delete,compact", source)
    admin_client.change_config("TOPIC", topic, [("SUBTRACT", key, "delete")])
    wait_for(admin_client, "TOPIC", topic, key, "compact", source)


@pytest.mark.feature("Validate a change without doing it")
@pytest.mark.parametrize("admin_client", INCREMENTAL, indirect=True)
def test_validate_change(admin_client: Admin, topic: str) -> None:
    change: list[Change] = [("SET", "retention.ms", "5000000")]
    admin_client.change_config("TOPIC", topic, change, validate_only=True)
    assert admin_client.describe_config("TOPIC", topic)["retention.ms"].value == "604800000"


@pytest.mark.feature("Changes Kafka refuses (INVALID_CONFIG)")
@pytest.mark.parametrize("admin_client", INCREMENTAL, indirect=True)
@pytest.mark.parametrize(
    "change",
    [
        ("SET", "retention.ms", "soon"),
        ("SET", "no.such.setting", "1"),
        ("APPEND", "retention.ms", "1"),
        ("SET", "cleanup.policy", "shred"),
    ],
    ids=lambda change: "-".join(change),
)
def test_invalid_change(admin_client: Admin, topic: str, change: Change) -> None:
    with pytest.raises(BrokerError) as refused:
        admin_client.change_config("TOPIC", topic, [change])
    assert refused.value.code == ErrorCode.INVALID_CONFIG


@pytest.mark.feature("Change a topic there is not (UNKNOWN_TOPIC_OR_PARTITION)")
@pytest.mark.parametrize("admin_client", INCREMENTAL, indirect=True)
def test_change_unknown_topic(admin_client: Admin, topic_name: str) -> None:
    with pytest.raises(BrokerError) as refused:
        admin_client.change_config("TOPIC", topic_name, [("SET", "retention.ms", "1000")])
    assert refused.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.feature("Change a broker's dynamic setting and take it back")
@pytest.mark.parametrize("admin_client", INCREMENTAL, indirect=True)
def test_broker_change(admin_client: Admin, cluster: Cluster) -> None:
    me, key = str(cluster.broker_id), "log.cleaner.backoff.ms"
    admin_client.change_config("BROKER", me, [("SET", key, "14000")])
    wait_for(admin_client, "BROKER", me, key, "14000", "DYNAMIC_BROKER_CONFIG")
    admin_client.change_config("BROKER", me, [("DELETE", key, None)])
    wait_for(admin_client, "BROKER", me, key, "15000", "DEFAULT_CONFIG")


@pytest.mark.feature("Change a broker's fixed setting (INVALID_REQUEST)")
@pytest.mark.parametrize("admin_client", INCREMENTAL, indirect=True)
def test_broker_fixed_setting(admin_client: Admin, cluster: Cluster) -> None:
    with pytest.raises(BrokerError) as refused:
        admin_client.change_config(
            "BROKER", str(cluster.broker_id), [("SET", "num.partitions", "5")]
        )
    assert refused.value.code == ErrorCode.INVALID_REQUEST
