"""Settings of the metadata log itself, which no topic setting reaches."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MetadataLogConfig:
    """Nothing in it is dropped but behind a snapshot."""

    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * 24 * 3600 * 1000
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 << 20
    index_interval_bytes: int = 4096
    retention_ms: int = -1
    retention_bytes: int = -1
    cleanup_policy: frozenset[str] = frozenset({"delete"})
    max_message_bytes: int = 64 << 20
    message_timestamp_type: str = "CreateTime"
    message_timestamp_before_max_ms: int = (1 << 63) - 1
    message_timestamp_after_max_ms: int = (1 << 63) - 1
    compression_type: str = "producer"
    penstock_record_check: str = "never"
    flush_messages: int = 1
    flush_ms: int = (1 << 63) - 1
    file_delete_delay_ms: int = 0
