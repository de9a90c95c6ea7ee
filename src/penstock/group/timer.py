"""Keys of the timers a shard asks for. They carry names only: what is due is looked up anew."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SessionTimer:
    """A member, pending or joined, that must be heard of before this."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class JoinTimer:
    """The end of the join phase, or of one stretch of the initial delay."""

    group_id: str


@dataclass(frozen=True, slots=True)
class SyncTimer:
    """Members of a new generation must have sent SyncGroup before this."""

    group_id: str


@dataclass(frozen=True, slots=True)
class RetentionTimer:
    """The next stretch of the sweep for expired offsets."""


@dataclass(frozen=True, slots=True)
class RevocationTimer:
    """A member of a consumer group must have given up its partitions before this."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class RejoinTimer:
    """A member of the classic protocol in a consumer group must have sent JoinGroup before this."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class ResyncTimer:
    """A member of the classic protocol in a consumer group must have sent SyncGroup before this."""

    group_id: str
    member_id: str
