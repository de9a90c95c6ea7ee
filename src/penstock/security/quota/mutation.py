"""Partitions made and deleted: `controller_mutation_rate`, by a bucket of tokens (KIP-599).

Clients that know of the error are refused once the bucket is empty. Older ones are served and made
to wait.
"""

from __future__ import annotations

import math

from penstock.model.error import ApiError, ErrorCode
from penstock.security.quota.sample import Windows
from penstock.security.quota.sensor import UNLIMITED, Tags, ThrottleTime


class TokenBucket:
    """Filled at the rate of the quota, up to what that gives in all windows together. It may go
    below zero: one request is never too large, but the next one waits."""

    __slots__ = ("_refilled_ms", "_span_s", "_tokens", "limit", "tags", "throttle_time", "used_ms")

    def __init__(self, tags: Tags, limit: float, windows: Windows) -> None:
        self.tags = tags
        self.limit = limit
        self.throttle_time = ThrottleTime()
        self.used_ms = 0.0
        self._span_s = windows.span_ms / 1000
        self._tokens = UNLIMITED
        self._refilled_ms = 0.0

    def take(self, count: float, now_ms: float) -> None:
        self.used_ms = now_ms
        self._tokens = self.tokens(now_ms) - count

    def tokens(self, now_ms: float) -> float:
        if self.limit == UNLIMITED:
            return UNLIMITED
        refill = self.limit * (now_ms - self._refilled_ms) / 1000
        self._tokens = min(self._span_s * self.limit, self._tokens + refill)
        self._refilled_ms = now_ms
        return self._tokens

    def wait_ms(self, now_ms: float) -> int:
        """Until it is no longer below zero."""
        tokens = self.tokens(now_ms)
        return 0 if tokens >= 0 else math.floor(-tokens / self.limit * 1000 + 0.5)


class MutationQuota:
    """For one request. `take` raises ApiError where it is strict and nothing is left."""

    __slots__ = ("_bucket", "_is_strict", "_now_ms", "_wait_ms")

    def __init__(self, bucket: TokenBucket, now_ms: float, *, is_strict: bool) -> None:
        self._bucket = bucket
        self._now_ms = now_ms
        self._is_strict = is_strict
        self._wait_ms = 0

    def throttle_ms(self, now_ms: float) -> int:
        """What is left of the wait, for whoever asked."""
        left_ms = max(0, self._wait_ms - int(now_ms - self._now_ms))
        if left_ms:
            self._bucket.throttle_time.note(left_ms, now_ms)
        return left_ms

    def take(self, partition_count: int) -> None:
        bucket, now_ms = self._bucket, self._now_ms
        if self._is_strict:
            self._wait_ms = bucket.wait_ms(now_ms)
            if self._wait_ms:
                raise ApiError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
            bucket.take(partition_count, now_ms)
        else:
            bucket.take(partition_count, now_ms)
            self._wait_ms = bucket.wait_ms(now_ms)
