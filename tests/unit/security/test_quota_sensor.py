"""Rates and waits, in time that the test moves."""

from __future__ import annotations

import pytest

from penstock.metadata.security import QuotaEntity
from penstock.model.error import ApiError, ErrorCode
from penstock.security.quota.client import FETCH, MUTATION, PRODUCE, SWEEP_COUNT_MIN, ClientQuotas
from penstock.security.quota.mutation import MutationQuota, TokenBucket
from penstock.security.quota.sample import Windows
from penstock.security.quota.sensor import UNLIMITED, RateSensor, Tags

START_MS = 1_000_000.0
TAGS = Tags("alice", "app")
ALICE: QuotaEntity = frozenset({("user", "alice")})
APP: QuotaEntity = frozenset({("client-id", "app")})
EVERY_APP: QuotaEntity = frozenset({("client-id", None)})


def test_within_the_quota_nobody_waits() -> None:
    sensor = RateSensor(TAGS, 1000.0, Windows())
    waits = [sensor.record(450, START_MS + 500 * turn) for turn in range(60)]
    assert waits == [0] * 60
    assert sensor.rate(START_MS + 500 * 59) == pytest.approx(900, rel=0.1)


def test_the_first_burst_may_be_as_large_as_ten_windows() -> None:
    """Kafka's: the first ten seconds count as ten, and a client that exceeds them waits until
    they are over."""
    sensor = RateSensor(TAGS, 1000.0, Windows())
    assert sensor.record(10_000, START_MS) == 0
    assert sensor.record(1_000, START_MS) == 1_000
    assert sensor.record(0, START_MS + 1_000) == 1_000
    assert sensor.record(0, START_MS + 11_000) == 0


def test_five_times_the_quota_is_slowed_to_the_quota() -> None:
    """Whoever waits as told sends what the quota allows, however fast it would be."""
    sensor = RateSensor(TAGS, 1_000_000.0, Windows())
    now_ms, sent = START_MS, 0
    while now_ms < START_MS + 60_000:
        sent += 100_000
        now_ms += 20 + sensor.record(100_000, now_ms)
    assert sent / 60 == pytest.approx(1_000_000, rel=0.2)


def test_what_is_long_ago_does_not_count() -> None:
    sensor = RateSensor(TAGS, 1000.0, Windows())
    assert sensor.record(50_000, START_MS) == 40_000
    assert sensor.record(1, START_MS + 11_000) == 0


def test_a_wait_can_be_bounded() -> None:
    sensor = RateSensor(TAGS, 1.0, Windows(), throttle_time_max_ms=1000)
    assert sensor.record(500, START_MS) == 1000


def test_what_is_taken_back_was_never_used() -> None:
    sensor = RateSensor(TAGS, 1000.0, Windows())
    sensor.record(50_000, START_MS)
    sensor.add(-50_000, START_MS)
    assert sensor.record(1, START_MS) == 0


def test_a_bucket_takes_one_request_too_many_and_then_none() -> None:
    bucket = TokenBucket(TAGS, 5.0, Windows(100, 1000.0))
    strict = MutationQuota(bucket, START_MS, is_strict=True)
    strict.take(560)
    assert strict.throttle_ms(START_MS) == 0
    with pytest.raises(ApiError) as refused:
        strict.take(1)
    assert refused.value.code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert strict.throttle_ms(START_MS) == 12_000
    later = MutationQuota(bucket, START_MS + 12_000, is_strict=True)
    later.take(1)


def test_an_older_client_is_served_and_waits() -> None:
    bucket = TokenBucket(TAGS, 5.0, Windows(1, 1000.0))
    permissive = MutationQuota(bucket, START_MS, is_strict=False)
    permissive.take(15)
    assert permissive.throttle_ms(START_MS) == 2000


def quotas(limits: dict[tuple[QuotaEntity, str], float]) -> ClientQuotas:
    made = ClientQuotas(Windows(), Windows())
    made.change(limits)
    return made


def test_nothing_is_kept_of_what_nobody_has_set() -> None:
    assert not quotas({}).is_on
    made = quotas({(ALICE, PRODUCE): 5.0})
    allotment = made.of("alice", "app", START_MS)
    assert allotment.fetch is None and allotment.request is None
    assert allotment.produce is not None and allotment.produce.limit == 5.0
    assert quotas({(ALICE, MUTATION): 5.0}).of("alice", "app", START_MS).produce is None


def test_a_change_is_seen_at_once_and_keeps_what_was_used() -> None:
    made = quotas({(APP, PRODUCE): 1000.0})
    before = made.of("alice", "app", START_MS).produce
    assert before is not None and before.record(20_000, START_MS) == 10_000
    made.change({(APP, PRODUCE): 100.0})
    after = made.of("alice", "app", START_MS).produce
    assert after is before and after.record(0, START_MS) == 190_000
    made.change({(EVERY_APP, FETCH): 100.0})
    assert made.of("alice", "app", START_MS).produce is None


def test_those_who_share_a_quota_share_a_sensor() -> None:
    made = quotas({(ALICE, PRODUCE): 5.0, (APP, PRODUCE): 7.0})
    one = made.of("alice", "one", START_MS).produce
    assert one is made.of("alice", "two", START_MS).produce
    assert made.of("bob", "app", START_MS).produce is made.of("carol", "app", START_MS).produce
    assert made.of("bob", "other", START_MS).produce is not one


def test_clients_that_come_and_go_are_forgotten() -> None:
    made = quotas({(EVERY_APP, PRODUCE): 5.0})
    kept = made.of("alice", "kept", START_MS).produce
    assert kept is not None
    for turn in range(3 * SWEEP_COUNT_MIN):
        made.of("alice", f"client-{turn}", START_MS + 100 * turn)
        kept.add(1, START_MS + 100 * turn)
    assert len(made.produce) < 2 * SWEEP_COUNT_MIN
    assert made.of("alice", "kept", START_MS).produce is kept
    assert kept.limit == 5.0 != UNLIMITED
