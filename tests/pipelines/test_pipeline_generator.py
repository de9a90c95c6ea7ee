"""Generated traffic: the same for the same seed, with habits, and with theft of every kind."""

from __future__ import annotations

import itertools
import time
from collections import Counter, defaultdict
from typing import Any

import pytest

from penstock.pipelines.jobs.fraud.generator import LABELS, Generator, ensure_topics
from penstock.pipelines.jobs.fraud.incident import KINDS, UNDECODABLE, Mix
from penstock.pipelines.jobs.fraud.model import PAYMENTS, Payment, PaymentError, decode_payment
from penstock.pipelines.jobs.fraud.place import distance_km
from penstock.pipelines.jobs.fraud.traffic import Label, Message, Traffic
from penstock.pipelines.keyed.partitioner import murmur2
from penstock.testing.broker import Broker

START_MS = 1_760_000_000_000
BUSY = Mix(fraud=0.01, trip=0.02, undecodable=0.002)


def traffic(seed: int = 3, **options: Any) -> Traffic:
    settings: dict[str, Any] = {"accounts": 500, "partitions": 4, "start_ms": START_MS, "mix": BUSY}
    return Traffic(seed, **(settings | options))


def content(message: Message) -> bytes:
    value = message["value"]
    return value.encode() if isinstance(value, str) else value


def payments(messages: list[Message]) -> list[Payment]:
    found = []
    for message in messages:
        try:
            found.append(decode_payment(content(message)))
        except PaymentError:
            continue
    return found


@pytest.fixture(scope="module")
def sample() -> tuple[list[Message], list[Label]]:
    return traffic().take(40_000)


def test_a_seed_gives_the_same_traffic_in_any_portions(
    sample: tuple[list[Message], list[Label]],
) -> None:
    messages: list[Message] = []
    labels: list[Label] = []
    again = traffic()
    for portion in (1, 999, 4_321, 34_679):
        some, truths = again.take(portion)
        messages += some
        labels += truths
        places = {traffic_number(each.payment) for each in labels}
        assert max(places, default=0) < again.produced
    assert (messages, labels) == sample
    assert traffic(4).take(100)[0] != sample[0][:100]


def traffic_number(payment: str) -> int:
    return int(payment.partition("-")[2])


def test_every_payment_has_its_own_id_and_its_accounts_partition(
    sample: tuple[list[Message], list[Label]],
) -> None:
    messages, labels = sample
    found = payments(messages)
    broken = [each for each in labels if each.kind == UNDECODABLE]
    assert len(found) + len(broken) == len(messages)
    assert len({each.payment for each in found}) == len(found)
    by_account = defaultdict(set)
    for message in messages:
        by_account[message["key"]].add(message["partition"])
    assert all(len(each) == 1 for each in by_account.values())
    assert len({message["partition"] for message in messages}) == 4


def test_keys_fall_where_kafkas_own_producer_puts_them() -> None:
    # Taken from Kafka's murmur2 of these keys.
    assert [murmur2(key, 1000) for key in (b"21", b"foobar", b"a-little-bit-long-string")] == [
        (-973932308 & 0x7FFFFFFF) % 1000,
        (-790332482 & 0x7FFFFFFF) % 1000,
        (-985981536 & 0x7FFFFFFF) % 1000,
    ]


def test_theft_of_every_kind_is_planted(sample: tuple[list[Message], list[Label]]) -> None:
    kinds = Counter(label.kind for label in sample[1])
    assert set(kinds) == {*KINDS, UNDECODABLE}
    ids = {each.payment for each in payments(sample[0])}
    assert {each.payment for each in sample[1] if each.kind != UNDECODABLE} <= ids


def test_honest_people_travel_no_faster_than_they_can(
    sample: tuple[list[Message], list[Label]],
) -> None:
    stolen = {each.payment for each in sample[1]}
    by_account = defaultdict(list)
    for each in payments(sample[0]):
        if each.payment not in stolen:
            by_account[each.account].append(each)
    journeys = 0
    for history in by_account.values():
        history.sort(key=lambda each: each.time_ms)
        for one, other in itertools.pairwise(history):
            way_km = distance_km(one.country, other.country)
            hours = (other.time_ms - one.time_ms) / 3_600_000
            assert way_km <= 900 * hours + 1, (one, other)
            journeys += one.country != other.country
    assert journeys > 20


def test_some_payments_are_late_and_most_are_not(
    sample: tuple[list[Message], list[Label]],
) -> None:
    latest, behind = 0, 0
    for each in payments(sample[0]):
        behind += each.time_ms < latest - 60_000
        latest = max(latest, each.time_ms)
    assert 20 < behind < 800


def test_the_generator_sends_all_of_it(penstock: Broker) -> None:
    client = {"bootstrap.servers": penstock.bootstrap_servers}
    assert ensure_topics(client, 3) == 3
    assert ensure_topics(client, 7) == 3
    before_ms = time.time_ns() // 1_000_000
    generator = Generator(client, traffic(partitions=3))
    sent = generator.run(50_000, count=12_345)
    assert sent.payments == 12_345
    messages, labels = traffic(partitions=3).take(12_345)
    records = penstock.read(PAYMENTS, count=12_345)
    assert sorted(each.value for each in records) == sorted(content(each) for each in messages)
    assert min(each.timestamp_ms for each in records) >= before_ms - 1
    assert len(penstock.read(LABELS)) == len(labels) == sent.labels


def test_the_generator_keeps_its_pace_and_stops_when_told(penstock: Broker) -> None:
    client = {"bootstrap.servers": penstock.bootstrap_servers}
    ensure_topics(client, 1)
    sent = Generator(client, traffic(partitions=1), labels=None).run(500, seconds=1.5)
    assert 300 <= sent.payments <= 800
    generator = Generator(client, traffic(5, partitions=1), labels=None)
    stopped = generator.run(1000, on_tick=lambda now: now.payments < 100)
    assert 100 <= stopped.payments <= 1200
