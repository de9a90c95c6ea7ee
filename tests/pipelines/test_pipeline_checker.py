"""The proof of one verdict each: it holds for right topics, and each planted fault is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.pipelines.jobs.fraud.checker import Checker, Report, wait_until_judged
from penstock.pipelines.jobs.fraud.generator import Generator, ensure_topics
from penstock.pipelines.jobs.fraud.incident import Mix
from penstock.pipelines.jobs.fraud.judge import RuleSet, judge
from penstock.pipelines.jobs.fraud.model import (
    DEAD_LETTERS,
    PAYMENTS,
    REVIEW,
    REVIEWS,
    VERDICTS,
    PaymentError,
    decode_payment,
    encode_verdict,
)
from penstock.pipelines.jobs.fraud.rule import DEFAULT_RULES
from penstock.pipelines.jobs.fraud.traffic import Traffic
from penstock.testing.broker import Broker
from penstock.testing.record import Record

PAYMENTS_SENT = 6_000
MIX = Mix(fraud=0.02, undecodable=0.002)
Written = tuple[str, str | bytes | None, bytes, list[tuple[str, bytes | None]]]


def written(records: list[Record]) -> list[Written]:
    """What a faultless detector writes."""
    rules, states, out = RuleSet(DEFAULT_RULES), {}, list[Written]()
    for record in records:
        try:
            payment = decode_payment(record.value)
        except PaymentError as error:
            out.append((DEAD_LETTERS, record.key, record.value or b"", origin(record, error)))
            continue
        states[payment.account], verdict = judge(states.get(payment.account), payment, rules)
        value = encode_verdict(verdict, record.partition, record.offset)
        out.append((VERDICTS, payment.payment, value, []))
        if verdict.decision == REVIEW:
            out.append((REVIEWS, payment.payment, value, []))
    return out


def origin(record: Record, error: Exception) -> list[tuple[str, bytes | None]]:
    said = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "error": type(error).__name__,
    }
    return [(f"penstock.dlq.{key}", str(value).encode()) for key, value in said.items()]


def detect(broker: Broker, spoil: Callable[[list[Written]], object] = lambda _: None) -> Report:
    """Traffic, a detector with the given fault, and the check."""
    from confluent_kafka import Producer

    client = {"bootstrap.servers": broker.bootstrap_servers}
    for topic in (VERDICTS, REVIEWS, DEAD_LETTERS):
        broker.create_topic(topic, 2)
    traffic = Traffic(11, accounts=100, partitions=ensure_topics(client, 2), mix=MIX)
    Generator(client, traffic).run(100_000, count=PAYMENTS_SENT)
    outputs = written(broker.read(PAYMENTS, count=PAYMENTS_SENT))
    spoil(outputs)
    producer = Producer(client | {"linger.ms": 5})
    for topic, key, value, headers in outputs:
        producer.produce(topic, value, key, headers=headers)
    producer.flush(20)
    return Checker(client).run()


def test_one_verdict_each(penstock: Broker) -> None:
    report = detect(penstock)
    assert report.violations == {}
    assert report.payments == PAYMENTS_SENT
    assert report.undecodable == report.dead_letters > 0
    assert report.verdicts == PAYMENTS_SENT - report.undecodable
    assert report.reviews == report.flagged > 0
    assert report.repeated_ids == 0
    accuracy = report.accuracy
    assert accuracy is not None
    assert accuracy.honest + sum(one.payments for one in accuracy.kinds.values()) == report.verdicts
    assert accuracy.kinds["merchants"].recall == 1.0
    client = {"bootstrap.servers": penstock.bootstrap_servers}
    assert wait_until_judged(client, 0.0) == PAYMENTS_SENT


def first(outputs: list[Written], topic: str) -> int:
    return next(index for index, one in enumerate(outputs) if one[0] == topic)


def drop(topic: str) -> Callable[[list[Written]], Any]:
    return lambda outputs: outputs.pop(first(outputs, topic))


def double(topic: str) -> Callable[[list[Written]], Any]:
    return lambda outputs: outputs.append(outputs[first(outputs, topic)])


def exchange(outputs: list[Written]) -> None:
    """The verdict on one payment under the place of another."""
    one, other = [index for index, each in enumerate(outputs) if each[0] == VERDICTS][:2]
    value = outputs[one][2].replace(outputs[one][1].encode(), outputs[other][1].encode())  # type: ignore[union-attr, arg-type]
    outputs[one] = (VERDICTS, outputs[other][1], value, [])


def invent(outputs: list[Written]) -> None:
    """A verdict on what was never a payment."""
    value = outputs[first(outputs, VERDICTS)][2].replace(b'"partition":', b'"partition":7')
    outputs.append((VERDICTS, outputs[first(outputs, VERDICTS)][1], value, []))


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (drop(VERDICTS), "payments without a verdict"),
        (double(VERDICTS), "payments with more than one verdict"),
        (drop(REVIEWS), "reviews that differ from the flagged verdicts"),
        (double(REVIEWS), "reviews that differ from the flagged verdicts"),
        (drop(DEAD_LETTERS), "undecodable records without exactly one dead letter"),
        (double(DEAD_LETTERS), "undecodable records without exactly one dead letter"),
        (exchange, "verdicts on another payment"),
        (invent, "verdicts without a payment"),
    ],
)
def test_a_planted_fault_is_found(
    penstock: Broker, spoil: Callable[[list[Written]], Any], found: str
) -> None:
    report = detect(penstock, spoil)
    assert report.violations == {found: 1}
    assert report.examples[found]
