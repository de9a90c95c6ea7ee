"""Where two logs of one partition part, told by leader epochs alone (KIP-101, 279, 320, 595).

Two logs that hold the same epoch at the same offset are the same up to there: an epoch has one
leader, and a leader writes an offset once. The leader finds out whether a follower has parted from
it, the follower where to cut its own log.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from penstock.model.error import ApiError, ErrorCode

UNDEFINED = -1


class Epochs(Protocol):
    """As `storage.epoch_cache.EpochCache`."""

    @property
    def latest(self) -> int: ...

    def end_offset(self, epoch: int, log_end: int) -> tuple[int, int]: ...


class ReplicaLog(Protocol):
    """What a role reads of its log, as `storage.log.Log` has it."""

    @property
    def log_start_offset(self) -> int: ...
    @property
    def end_offset(self) -> int: ...
    @property
    def high_watermark(self) -> int: ...
    @property
    def epochs(self) -> Epochs: ...


class EpochEnd(NamedTuple):
    epoch: int
    end_offset: int


def find_divergence(log: ReplicaLog, fetch_offset: int, last_epoch: int) -> EpochEnd | None:
    """Of a leader's log and a fetch at this offset, in front of which stands a record of this
    epoch; None where they agree. ApiError where the log cannot tell."""
    if last_epoch == UNDEFINED:
        return None
    epoch, end = log.epochs.end_offset(last_epoch, log.end_offset)
    if epoch == UNDEFINED or end == UNDEFINED or fetch_offset < log.log_start_offset:
        raise ApiError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"offset {fetch_offset} behind epoch {last_epoch} is not known here",
        )
    if epoch < last_epoch or end < fetch_offset:
        return EpochEnd(epoch, end)
    return None


def truncation_point(log: ReplicaLog, leader: EpochEnd) -> int | None:
    """Where a follower cuts its log when the leader's last common epoch ended there. The leader is
    asked again afterwards, so that each step only has to be right, not the last. None where the
    leader could not tell: then nothing is cut, least of all at the high watermark."""
    if leader.end_offset == UNDEFINED:
        return None
    epoch, end = log.epochs.end_offset(leader.epoch, log.end_offset)
    if epoch == leader.epoch:
        return min(end, leader.end_offset, log.end_offset)
    if epoch == UNDEFINED:
        return min(leader.end_offset, log.end_offset)
    # The leader named an epoch that is not known here (KIP-279): back to the end of the one below.
    return min(end, log.end_offset)
