"""The detector on real Spark against a real broker, and its stateless form."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import pytest

from penstock.pipelines.jobs.fraud.job import fraud
from penstock.pipelines.jobs.fraud.judge import RuleSet, decode_history, judge
from penstock.pipelines.jobs.fraud.model import (
    DEAD_LETTERS,
    PAYMENTS,
    REVIEWS,
    RULES,
    VERDICTS,
    Payment,
    Verdict,
    decode_payment,
    decode_verdict,
    encode_payment,
)
from penstock.pipelines.jobs.fraud.rule import (
    DEFAULT_RULES,
    Limit,
    Merchants,
    encode_rule,
)
from penstock.pipelines.jobs.fraud.stateless import fraud_stateless, verdicts
from penstock.pipelines.jobs.fraud.traffic import Traffic
from penstock.testing.broker import Broker

pytestmark = [pytest.mark.java, pytest.mark.timeout(400)]

COMMITTED = {"isolation.level": "read_committed"}
PATIENCE_S = 120.0
START_MS = 1_700_000_000_000


def payment(number: int, **changes: Any) -> Payment:
    usual = Payment(f"p{number}", "account", 20.0, "EUR", "grocer", "DE", "phone", START_MS)
    return usual._replace(**changes)


def judged(broker: Broker, count: int) -> dict[str, Verdict]:
    broker.read(VERDICTS, count=count, timeout_s=PATIENCE_S, settings=COMMITTED)
    found = broker.read(VERDICTS, timeout_s=PATIENCE_S, settings=COMMITTED)
    given = [decode_verdict(each.value or b"")[0] for each in found]
    assert len(given) == len({each.payment for each in given}) == count
    return {each.payment: each for each in given}


def test_verdicts_and_states_are_those_of_an_undisturbed_run(
    penstock: Broker, pipeline_run: Callable[..., Any]
) -> None:
    """Judged in three runs, each from the states that the one before left on the broker."""
    penstock.create_topic(PAYMENTS, partitions=2)
    traffic = Traffic(5, accounts=200, partitions=2, start_ms=START_MS)
    expected: dict[str, Verdict] = {}
    histories: dict[str, Any] = {}
    rules, bad = RuleSet(DEFAULT_RULES), 0
    for _ in range(3):
        messages, _labels = traffic.take(1500)
        for each in messages:
            value = each["value"] if isinstance(each["value"], bytes) else each["value"].encode()
            penstock_partition = each["partition"]
            _queue.append((each["key"], value, penstock_partition))
            try:
                one = decode_payment(value)
            except ValueError:
                bad += 1
                continue
            histories[one.account], expected[one.payment] = judge(
                histories.get(one.account), one, rules
            )
        _send(penstock)
        pipeline_run(fraud)
    assert judged(penstock, len(expected)) == expected
    assert len(penstock.read(DEAD_LETTERS, settings=COMMITTED)) == bad
    flagged = [each.payment for each in expected.values() if each.decision == "review"]
    assert flagged
    reviews = penstock.read(REVIEWS, settings=COMMITTED)
    assert sorted((each.key or b"").decode() for each in reviews) == sorted(flagged)
    kept = {
        (each.key or b"").decode(): decode_history(_json(each.value))
        for each in penstock.read("fraud.state", settings=COMMITTED)
        if not (each.key or b"").startswith(b"\xff")
    }
    assert kept == histories


_queue: list[tuple[str, bytes, int]] = []


def _send(broker: Broker) -> None:
    for partition in (0, 1):
        part = [(key, value) for key, value, where in _queue if where == partition]
        broker.produce(PAYMENTS, part, partition=partition)
    _queue.clear()


def _json(value: bytes | None) -> Any:
    import orjson

    return orjson.loads(value or b"null")


def test_a_rule_set_while_it_runs_takes_effect_and_can_be_withdrawn(
    penstock: Broker, pipeline_start: Callable[..., Any]
) -> None:
    penstock.create_topic(PAYMENTS)
    running = pipeline_start(fraud)

    numbers = itertools.count()

    def pay() -> str:
        number = next(numbers)
        one = payment(number, time_ms=START_MS + number * 10**7)
        penstock.produce(PAYMENTS, [(one.account, encode_payment(one))])
        return judged(penstock, number + 1)[one.payment].decision

    def pay_until(decision: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while pay() != decision:
            assert time.monotonic() < deadline

    assert pay() == "accept"
    penstock.produce(RULES, [("no-grocers", encode_rule(Merchants(merchants=("grocer",))))])
    pay_until("review")
    penstock.produce(RULES, [("no-grocers", None)])
    pay_until("accept")
    running.stop()


def test_the_stateless_expression_agrees_with_the_judge(spark: Any) -> None:
    rules = {"list": Merchants(merchants=("shady", "dark"), floor=10), "cap": Limit(amount=100)}
    payments = [
        payment(0),
        payment(1, merchant="shady"),
        payment(2, merchant="shady", amount=5.0),
        payment(3, amount=101.0, merchant="dark"),
        payment(4, amount=105.0, currency="USD"),
        payment(5, amount=150.0, currency="???"),
    ]
    rows = [
        (b"account", encode_payment(each), 1, each_offset)
        for each_offset, each in enumerate(payments)
    ]
    rows.append((b"account", b"no payment", 1, 99))
    frame = spark.createDataFrame(rows, "_key binary, value binary, _partition int, _offset long")
    found = [decode_verdict(each["value"].encode()) for each in _whole(verdicts(frame, rules))]
    expected = [judge(None, each, RuleSet(rules))[1] for each in payments]
    shown = [verdict._replace(reasons=tuple(sorted(verdict.reasons))) for verdict, _, _ in found]
    assert shown == [each._replace(reasons=tuple(sorted(each.reasons))) for each in expected]
    (broken,) = [
        each for each in verdicts(frame, rules).collect() if b"readable" in each["value"].encode()
    ]
    assert bytes(broken["key"]) == b"account"
    assert '"decision":"review"' in broken["value"]


def _whole(frame: Any) -> list[Any]:
    return [each for each in frame.collect() if "readable" not in each["value"]]


def test_the_stateless_form_runs_in_real_time_mode(
    penstock: Broker, pipeline_start: Callable[..., Any]
) -> None:
    penstock.create_topic(PAYMENTS)
    penstock.create_topic(VERDICTS)
    running = pipeline_start(fraud_stateless, trigger={"realTime": "5 seconds"})
    for number in range(3):
        one = payment(number, merchant="shady-1" if number == 1 else "grocer")
        penstock.produce(PAYMENTS, [(one.account, encode_payment(one))])
    given = judged(penstock, 3)
    assert [given[f"p{n}"].decision for n in range(3)] == ["accept", "review", "accept"]
    running.stop()
