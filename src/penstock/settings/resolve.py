"""The settings in force for one topic: its own, else the broker's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock.settings.synonym import TOPIC_TO_BROKER, to_ms
from penstock.settings.topic import TOPIC_KEYS, parse_topic_override

if TYPE_CHECKING:
    from penstock.settings.config import BrokerConfig

_CODECS: Final = {"uncompressed": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
_CACHE_ENTRIES_MAX: Final = 1024


class TopicConfig(NamedTuple):
    """Immutable, and shared by all topics with the same settings. A field is the name of its
    setting with underscores for dots."""

    cleanup_policy: frozenset[str]
    compression_gzip_level: int
    compression_lz4_level: int
    compression_type: str
    compression_zstd_level: int
    delete_retention_ms: int
    file_delete_delay_ms: int
    flush_messages: int
    flush_ms: int
    follower_replication_throttled_replicas: tuple[str, ...]
    index_interval_bytes: int
    leader_replication_throttled_replicas: tuple[str, ...]
    local_retention_bytes: int
    local_retention_ms: int
    max_compaction_lag_ms: int
    max_message_bytes: int
    message_timestamp_after_max_ms: int
    message_timestamp_before_max_ms: int
    message_timestamp_type: str
    min_cleanable_dirty_ratio: float
    min_compaction_lag_ms: int
    min_insync_replicas: int
    penstock_record_check: str
    preallocate: bool
    remote_log_copy_disable: bool
    remote_log_delete_on_disable: bool
    remote_storage_enable: bool
    retention_bytes: int
    retention_ms: int
    segment_bytes: int
    segment_index_bytes: int
    segment_jitter_ms: int
    segment_ms: int
    unclean_leader_election_enable: bool

    @property
    def is_compacted(self) -> bool:
        return "compact" in self.cleanup_policy

    @property
    def is_deleted(self) -> bool:
        return "delete" in self.cleanup_policy

    @property
    def uses_append_time(self) -> bool:
        return self.message_timestamp_type == "LogAppendTime"

    @property
    def compression_codec(self) -> int | None:
        """The codec id that batches are to be stored in; None leaves them as they were sent."""
        return _CODECS.get(self.compression_type)

    def compression_level(self, codec: int) -> int | None:
        if codec == 1:
            return self.compression_gzip_level
        if codec == 3:
            return self.compression_lz4_level
        return self.compression_zstd_level if codec == 4 else None


def resolve_topic(config: BrokerConfig, overrides: Mapping[str, str]) -> TopicConfig:
    """ApiError(INVALID_CONFIG) for overrides that `validate_topic_overrides` would refuse."""
    cache = config.topic_cache
    marker = frozenset(overrides.items())
    found: TopicConfig | None = cache.get(marker)
    if found is None:
        found = _build(config, overrides)
        if len(cache) < _CACHE_ENTRIES_MAX:
            cache[marker] = found
    return found


def topic_value(config: BrokerConfig, overrides: Mapping[str, str], name: str) -> Any:
    """The typed value of one setting, by whatever name it comes from."""
    if name in overrides:
        return parse_topic_override(name, overrides[name])
    for broker_name in TOPIC_TO_BROKER.get(name, ()):
        value = config.get(broker_name)
        if value is not None:
            return to_ms(broker_name, value) if isinstance(value, int) else value
    default = TOPIC_KEYS[name].default
    return None if default is None else TOPIC_KEYS[name].parse(default)


def _build(config: BrokerConfig, overrides: Mapping[str, str]) -> TopicConfig:
    own = {name: parse_topic_override(name, text) for name, text in overrides.items()}
    values: dict[str, Any] = {
        name.replace(".", "_"): topic_value(config, overrides, name) for name in TOPIC_KEYS
    }
    for name, value in values.items():
        if isinstance(value, list):
            values[name] = frozenset(value) if name == "cleanup_policy" else tuple(value)
    values["segment_bytes"] = own.get("internal.segment.bytes", values["segment_bytes"])
    return TopicConfig(**values)
