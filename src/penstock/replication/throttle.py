"""How fast replicas of a node may be copied: the throttle that moves of partitions are given.

A quota counts bytes of the replicas it was set for, to followers (`leader.replication.throttled.*`)
or from leaders (`follower.*`). Who is in sync is never held back, or it would drop out. Time is
given; settings are read, and fetches held back, by the callers.
"""

from __future__ import annotations

from collections.abc import Sequence

UNLIMITED = (1 << 63) - 1
EVERY_REPLICA = "*"


class ReplicationQuota:
    """Bytes that went beyond the rate are owed, and nothing more goes before they are paid back to
    what one window may have. Kafka forgets them after eleven windows, so that a few large answers
    are faster than a small rate."""

    __slots__ = ("_owed_bytes", "_rate", "_seen_s", "_window_s")

    def __init__(self, window_s: float = 1.0) -> None:
        self._window_s = window_s
        self._rate = UNLIMITED
        self._owed_bytes = 0.0
        self._seen_s = 0.0

    def set_rate(self, bytes_per_s: int, now_s: float) -> None:
        self._settle(now_s)
        self._rate = bytes_per_s
        if bytes_per_s == UNLIMITED:
            self._owed_bytes = 0.0

    def note(self, size_bytes: int, now_s: float) -> None:
        """Also of those who are not held back: they take their part of the rate."""
        if self._rate != UNLIMITED:
            self._settle(now_s)
            self._owed_bytes += size_bytes

    def wait_s(self, now_s: float) -> float:
        """Until the next byte may go; 0 if it may now."""
        if self._rate == UNLIMITED:
            return 0.0
        self._settle(now_s)
        excess = self._owed_bytes - self._rate * self._window_s
        if excess <= 0:
            return 0.0
        return excess / self._rate if self._rate else float("inf")

    def is_exceeded(self, now_s: float) -> bool:
        return self.wait_s(now_s) > 0

    def _settle(self, now_s: float) -> None:
        passed_s = max(now_s - self._seen_s, 0.0)
        self._owed_bytes = max(self._owed_bytes - passed_s * self._rate, 0.0)
        self._seen_s = now_s


class PartitionThrottle:
    """Of a replica that a topic's settings name: the quotas it counts for."""

    __slots__ = ("_following", "_is_level", "_leading")

    def __init__(
        self, leading: ReplicationQuota | None, following: ReplicationQuota | None
    ) -> None:
        self._leading = leading
        self._following = following
        self._is_level = False

    # While it leads

    def holds_back(self, is_in_sync: bool, now_s: float) -> bool:
        """A follower gets nothing of this partition now."""
        return not is_in_sync and self._leading is not None and self._leading.is_exceeded(now_s)

    def note_sent(self, size_bytes: int, now_s: float) -> None:
        if self._leading is not None:
            self._leading.note(size_bytes, now_s)

    # While it follows

    def wait_s(self, now_s: float) -> float:
        """Until its leader may be asked for more; 0 if now."""
        if self._following is None or self._is_level:
            return 0.0
        return self._following.wait_s(now_s)

    def note_fetched(self, size_bytes: int, is_level: bool, now_s: float) -> None:
        """`is_level`: everything that its leader has committed is here."""
        self._is_level = is_level
        if self._following is not None and size_bytes:
            self._following.note(size_bytes, now_s)


class ReplicationThrottles:
    """Both quotas of a node."""

    __slots__ = ("_node_id", "following", "leading")

    def __init__(self, node_id: int, window_s: float = 1.0) -> None:
        self._node_id = node_id
        self.leading = ReplicationQuota(window_s)
        self.following = ReplicationQuota(window_s)

    def of(
        self, index: int, leaders: Sequence[str], followers: Sequence[str]
    ) -> PartitionThrottle | None:
        """The throttle of a partition here, by what its topic's settings name."""
        leading = self.leading if self._covers(leaders, index) else None
        following = self.following if self._covers(followers, index) else None
        if leading is None and following is None:
            return None
        return PartitionThrottle(leading, following)

    def _covers(self, replicas: Sequence[str], index: int) -> bool:
        return bool(replicas) and (
            EVERY_REPLICA in replicas or f"{index}:{self._node_id}" in replicas
        )
