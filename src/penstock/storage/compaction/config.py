"""The settings compaction needs: those of a log, and those of the cleaner as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, cast

from penstock.storage.config import LogConfig
from penstock.storage.log import Log

KEY_MAP_BYTES = 16 * 1024 * 1024
"""Room for half a million keys in one round. More keys only mean more rounds."""

UNLIMITED = float("inf")


class CompactionConfig(LogConfig, Protocol):
    @property
    def delete_retention_ms(self) -> int: ...
    @property
    def min_cleanable_dirty_ratio(self) -> float: ...
    @property
    def min_compaction_lag_ms(self) -> int: ...
    @property
    def max_compaction_lag_ms(self) -> int: ...


def is_compacted(log: Log) -> bool:
    return "compact" in log.config.cleanup_policy


def compaction_config(log: Log) -> CompactionConfig:
    """Only for logs that are compacted: the settings of others may lack these."""
    return cast("CompactionConfig", log.config)


@dataclass(frozen=True)
class CleanerSettings:
    key_map_bytes: int = KEY_MAP_BYTES
    io_bytes_per_second: float = UNLIMITED
