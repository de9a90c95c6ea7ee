"""Records as a leader sent them: how much of them a follower may append."""

from __future__ import annotations

from struct import Struct
from typing import Final

from penstock.records.header import BATCH_OVERHEAD, LOG_OVERHEAD, Buffer

_PREFIX: Final = Struct(">qii")
_prefix = _PREFIX.unpack_from


def usable_length(records: Buffer, leader_epoch: int) -> int:
    """Whole batches up to the first one of an epoch above the one that was asked in. An answer may
    come late, from a log that meanwhile got batches of a later leader, and what stands in front of
    them there was never compared with what stands here (KAFKA-18723)."""
    position, limit = 0, len(records)
    while limit - position >= BATCH_OVERHEAD:
        _, length, epoch = _prefix(records, position)
        end = position + LOG_OVERHEAD + length
        if length < BATCH_OVERHEAD - LOG_OVERHEAD or end > limit or epoch > leader_epoch:
            break
        position = end
    return position


def is_of_later_leader(records: Buffer, position: int, leader_epoch: int) -> bool:
    """Whether what stands there is no cut-off batch, but one of an epoch above."""
    if len(records) - position < LOG_OVERHEAD + 4:
        return False
    epoch: int = _prefix(records, position)[2]
    return epoch > leader_epoch


def first_base_offset(records: Buffer) -> int:
    base_offset: int = _prefix(records, 0)[0]
    return base_offset
