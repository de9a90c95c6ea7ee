"""Which settings are in force for a topic."""

from __future__ import annotations

import pytest

from penstock.model.error import ApiError, ErrorCode
from penstock.settings.config import BrokerConfig
from penstock.settings.describe import describe_topic
from penstock.settings.resolve import resolve_topic
from penstock.settings.topic import validate_topic_overrides

WEEK_MS = 7 * 24 * 3600 * 1000


def test_defaults() -> None:
    topic = resolve_topic(BrokerConfig(), {})
    assert topic.retention_ms == topic.segment_ms == WEEK_MS
    assert topic.retention_bytes == -1
    assert topic.segment_bytes == 1 << 30
    assert topic.segment_jitter_ms == 0
    assert topic.flush_messages == 1
    assert topic.flush_ms == 2**63 - 1
    assert topic.cleanup_policy == frozenset({"delete"})
    assert topic.is_deleted and not topic.is_compacted
    assert topic.compression_codec is None
    assert topic.max_message_bytes == 1048588
    assert topic.min_cleanable_dirty_ratio == 0.5
    assert topic.leader_replication_throttled_replicas == ()
    assert not topic.uses_append_time


def test_topics_share_what_is_equal() -> None:
    config = BrokerConfig()
    assert resolve_topic(config, {}) is resolve_topic(config, {})
    overrides = {"retention.ms": "1", "segment.ms": "2"}
    turned = dict(reversed(overrides.items()))
    assert resolve_topic(config, overrides) is resolve_topic(config, turned)


def test_overrides_win_over_the_broker() -> None:
    config = BrokerConfig.load(None, ["log.retention.ms=10", "log.cleanup.policy=compact"])
    assert resolve_topic(config, {}).retention_ms == 10
    assert resolve_topic(config, {}).is_compacted
    topic = resolve_topic(config, {"retention.ms": " 20 ", "cleanup.policy": "compact,delete"})
    assert topic.retention_ms == 20
    assert topic.cleanup_policy == {"compact", "delete"}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (["log.retention.hours=2"], 7_200_000),
        (["log.retention.hours=2", "log.retention.minutes=3"], 180_000),
        (["log.retention.minutes=3", "log.retention.ms=4"], 4),
        (["log.retention.hours=-1"], -1),
        (["log.retention.ms=-1"], -1),
    ],
)
def test_smaller_units_of_retention_win(settings: list[str], expected: int) -> None:
    assert resolve_topic(BrokerConfig.load(None, settings), {}).retention_ms == expected


def test_other_chains_of_units() -> None:
    config = BrokerConfig.load(None, ["log.roll.hours=1", "log.roll.jitter.hours=1"])
    topic = resolve_topic(config, {})
    assert (topic.segment_ms, topic.segment_jitter_ms) == (3_600_000, 3_600_000)
    topic = resolve_topic(BrokerConfig.load(None, ["log.flush.scheduler.interval.ms=5"]), {})
    assert topic.flush_ms == 5
    topic = resolve_topic(
        BrokerConfig.load(None, ["log.flush.scheduler.interval.ms=5", "log.flush.interval.ms=6"]),
        {},
    )
    assert topic.flush_ms == 6


def test_dynamic_changes_reach_topics() -> None:
    config = BrokerConfig()
    resolve_topic(config, {})
    assert resolve_topic(config.with_dynamic({}, {"message.max.bytes": "77"}), {}) != (
        resolve_topic(config, {})
    )


@pytest.mark.parametrize(
    ("name", "codec", "level"),
    [
        ("uncompressed", 0, None),
        ("gzip", 1, -1),
        ("snappy", 2, None),
        ("lz4", 3, 9),
        ("zstd", 4, 3),
    ],
)
def test_codecs(name: str, codec: int, level: int | None) -> None:
    topic = resolve_topic(BrokerConfig(), {"compression.type": name})
    assert topic.compression_codec == codec
    assert topic.compression_level(codec) == level


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"foo.bar": "1"}, "Unknown topic config name: foo.bar"),
        ({"retention.ms": None}, "Null value not supported for topic configs: retention.ms"),
        (
            {"retention.ms": "-5"},
            "Invalid value -5 for configuration retention.ms: Value must be at least -1",
        ),
        (
            {"min.compaction.lag.ms": "5", "max.compaction.lag.ms": "4"},
            "min.compaction.lag.ms (5) is higher than max.compaction.lag.ms (4)",
        ),
        (
            {"remote.storage.enable": "true"},
            "remote.storage.enable cannot be true: this broker has no tiered storage",
        ),
    ],
)
def test_refused_overrides(overrides: dict[str, str | None], message: str) -> None:
    with pytest.raises(ApiError) as caught:
        validate_topic_overrides(overrides)
    assert (caught.value.code, caught.value.message) == (ErrorCode.INVALID_CONFIG, message)


def test_accepted_overrides() -> None:
    validate_topic_overrides({})
    validate_topic_overrides({"min.compaction.lag.ms": "5", "retention.bytes": "-5"})
    validate_topic_overrides({"remote.storage.enable": "false"})


def test_resolving_refuses_what_is_unknown() -> None:
    with pytest.raises(ApiError):
        resolve_topic(BrokerConfig(), {"foo.bar": "1"})


def test_tests_may_have_tiny_segments() -> None:
    overrides = {"internal.segment.bytes": "2048", "segment.bytes": "1048576"}
    validate_topic_overrides(dict(overrides))
    assert resolve_topic(BrokerConfig(), overrides).segment_bytes == 2048
    described = {entry.name: entry.value for entry in describe_topic(BrokerConfig(), overrides)}
    assert described["segment.bytes"] == "1048576"
    assert "internal.segment.bytes" not in described
