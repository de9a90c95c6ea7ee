"""Recall and false alarms: the arithmetic, and the shipped rules on generated traffic."""

from __future__ import annotations

import pytest

from penstock.pipelines.jobs.fraud.accuracy import Accuracy, Truth, decode_label, truths
from penstock.pipelines.jobs.fraud.incident import KINDS, Mix
from penstock.pipelines.jobs.fraud.judge import RuleSet, judge
from penstock.pipelines.jobs.fraud.model import REVIEW, PaymentError, decode_payment
from penstock.pipelines.jobs.fraud.rule import DEFAULT_RULES
from penstock.pipelines.jobs.fraud.traffic import Label, Traffic


def test_a_burst_is_caught_with_its_first_flag() -> None:
    accuracy = Accuracy({"a": Truth("velocity", 1), "b": Truth("velocity", 1)})
    accuracy.add("a", flagged=False)
    assert accuracy.kinds["velocity"].recall == 0.0
    accuracy.add("b", flagged=True)
    accuracy.add("c", flagged=False)
    accuracy.add("d", flagged=True, reasons=["amount"])
    assert accuracy.kinds["velocity"].recall == 1.0
    assert (accuracy.honest, accuracy.false_positives) == (2, 1)
    assert accuracy.false_positive_rate == 0.5
    assert not accuracy.good
    assert accuracy.document()["false_positive_rules"] == {"amount": 1}


def test_labels_decode_or_are_left_out() -> None:
    assert decode_label(b"p", b'{"kind":"travel","incident":3}') == Label("p", "travel", 3)
    assert decode_label(b"p", b"{}") is None
    assert decode_label(None, b"{}") is None
    found = truths([Label("p", "travel", 3), Label("q", "undecodable", 0)])
    assert found == {"p": Truth("travel", 3)}


@pytest.mark.parametrize("seed", [1, 2])
def test_shipped_rules_raise_few_false_alarms(seed: int) -> None:
    traffic = Traffic(seed, accounts=2_000, start_ms=1_760_000_000_000, mix=Mix(fraud=0.004))
    messages, labels = traffic.take(60_000)
    rules, states, accuracy = RuleSet(DEFAULT_RULES), {}, Accuracy(truths(labels))
    for message in messages:
        value = message["value"]
        try:
            payment = decode_payment(value.encode() if isinstance(value, str) else value)
        except PaymentError:
            continue
        states[payment.account], verdict = judge(states.get(payment.account), payment, rules)
        rule_names = [reason.rule for reason in verdict.reasons]
        accuracy.add(payment.payment, flagged=verdict.decision == REVIEW, reasons=rule_names)
    assert accuracy.good, accuracy.document()
    assert accuracy.honest > 55_000
    assert set(accuracy.kinds) == set(KINDS)
    recall = {kind: one.recall for kind, one in accuracy.kinds.items()}
    assert all(each >= 0.75 for each in recall.values()), recall
    assert recall["merchants"] == 1.0
