"""Keys of the timers a shard asks for. They carry names only: what is due is looked up anew.

They are tuples, which are hashed at every heartbeat. The last field keeps kinds apart: tuples of
equal content are equal, whatever their class.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class SessionTimer(NamedTuple):
    """A member, pending or joined, that must be heard of before this."""

    group_id: str
    member_id: str
    kind: Literal["session"] = "session"


class JoinTimer(NamedTuple):
    """The end of the join phase, or of one stretch of the initial delay."""

    group_id: str
    kind: Literal["join"] = "join"


class SyncTimer(NamedTuple):
    """Members of a new generation must have sent SyncGroup before this."""

    group_id: str
    kind: Literal["sync"] = "sync"


class RetentionTimer(NamedTuple):
    """The next stretch of the sweep for expired offsets."""

    kind: Literal["retention"] = "retention"


class RevocationTimer(NamedTuple):
    """A member of a consumer group must have given up its partitions before this."""

    group_id: str
    member_id: str
    kind: Literal["revocation"] = "revocation"


class RejoinTimer(NamedTuple):
    """A member of the classic protocol in a consumer group must have sent JoinGroup before this."""

    group_id: str
    member_id: str
    kind: Literal["rejoin"] = "rejoin"


class ResyncTimer(NamedTuple):
    """A member of the classic protocol in a consumer group must have sent SyncGroup before this."""

    group_id: str
    member_id: str
    kind: Literal["resync"] = "resync"


class InitialRebalanceTimer(NamedTuple):
    """The end of the time in which a streams group waits for more members to assign tasks to."""

    group_id: str
    kind: Literal["initial rebalance"] = "initial rebalance"
