"""What a log takes for committed when it opens, from what was remembered before."""

from __future__ import annotations

from penstock.storage.log import Log


def restore_high_watermark(log: Log, checkpointed: int) -> None:
    """The checkpoint may be older than the log, or newer than what a crash left of it."""
    log.advance_high_watermark(min(checkpointed, log.end_offset))
