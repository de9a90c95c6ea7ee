"""Where a share group begins to read a partition that it has never read."""

from __future__ import annotations

from penstock.handlers.share.setting import duration_ms
from penstock.replication.partition import Partition
from penstock.storage.lookup import offset_for_timestamp


def first_offset(partition: Partition, reset: str, now_ms: int) -> int:
    log = partition.log
    if reset == "earliest":
        return log.log_start_offset
    ago_ms = duration_ms(reset)
    if ago_ms is None:
        return log.high_watermark
    found = offset_for_timestamp(log, now_ms - ago_ms)
    if found is None or found.offset > log.high_watermark:
        return log.high_watermark
    return found.offset
