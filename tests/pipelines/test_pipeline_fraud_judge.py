"""Judging one payment: each kind of rule, time out of order, bounds, and that it is pure."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.pipelines.jobs.fraud.judge import (
    DEVICES_MAX,
    LATENESS_MS,
    History,
    RuleSet,
    decode_history,
    judge,
)
from penstock.pipelines.jobs.fraud.model import (
    ACCEPT,
    REVIEW,
    Payment,
    PaymentError,
    Verdict,
    decode_payment,
    decode_verdict,
    encode_payment,
    encode_verdict,
)
from penstock.pipelines.jobs.fraud.place import COUNTRIES, distance_km
from penstock.pipelines.jobs.fraud.rule import (
    DEFAULT_RULES,
    Amount,
    Limit,
    Merchants,
    NewDevice,
    Rule,
    RuleError,
    Travel,
    Velocity,
    decode_rule,
    encode_rule,
    make_rule,
)

START_MS = 1_700_000_000_000
MINUTE_MS = 60_000


def payment(number: int = 0, at_ms: int = 0, **changes: object) -> Payment:
    usual = Payment(f"p{number}", "account", 20.0, "EUR", "grocer", "DE", "phone", START_MS + at_ms)
    return usual._replace(**changes)  # type: ignore[arg-type]


def run(payments: list[Payment], **rules: Rule) -> tuple[History | None, list[Verdict]]:
    active = RuleSet(rules)
    history, verdicts = None, []
    for each in payments:
        history, verdict = judge(history, each, active)
        verdicts.append(verdict)
    return history, verdicts


def decisions(payments: list[Payment], **rules: Rule) -> list[str]:
    return [each.decision for each in run(payments, **rules)[1]]


def test_velocity_counts_the_payments_of_a_window_and_forgets_older_ones() -> None:
    rule = Velocity(count=3, window_ms=MINUTE_MS)
    burst = [payment(n, n * 1000) for n in range(5)]
    assert decisions(burst, v=rule) == [ACCEPT] * 3 + [REVIEW] * 2
    assert decisions([payment(n, n * 20_000) for n in range(9)], v=rule) == [ACCEPT] * 9
    after = [*burst, payment(9, 10 * MINUTE_MS)]
    assert decisions(after, v=rule)[-1] == ACCEPT


def test_a_window_is_half_open() -> None:
    rule = Velocity(count=1, window_ms=MINUTE_MS)
    assert decisions([payment(0), payment(1, MINUTE_MS)], v=rule)[-1] == ACCEPT
    assert decisions([payment(0), payment(1, MINUTE_MS - 1)], v=rule)[-1] == REVIEW


def test_rules_of_one_kind_stand_beside_each_other() -> None:
    burst = [payment(n, n * 1000) for n in range(4)]
    _, verdicts = run(
        burst, fast=Velocity(count=2, window_ms=10_000), slow=Velocity(count=3, window_ms=10_000)
    )
    assert [[why.rule for why in each.reasons] for each in verdicts] == [
        [],
        [],
        ["fast"],
        ["fast", "slow"],
    ]


def test_velocity_sees_a_burst_that_arrives_out_of_order() -> None:
    rule = Velocity(count=2, window_ms=10_000)
    shuffled = [payment(0, 0), payment(2, 8000), payment(1, 4000)]
    assert decisions(shuffled, v=rule) == [ACCEPT, ACCEPT, REVIEW]
    apart = [payment(0, 0), payment(2, 18_000), payment(1, 9000)]
    assert decisions(apart, v=rule) == [ACCEPT] * 3


def test_late_payments_are_judged_and_marked() -> None:
    now, early = payment(0, LATENESS_MS * 2), payment(1, 0, merchant="shady")
    _, verdicts = run([now, early], m=Merchants(merchants=("shady",)))
    assert [each.late for each in verdicts] == [False, True]
    assert verdicts[1].decision == REVIEW
    just = payment(2, LATENESS_MS)
    assert not run([now, just])[1][1].late


def test_one_payment_from_the_future_does_not_blind_the_velocity_rule() -> None:
    future = payment(0, 10**9)
    burst = [payment(n, n * 1000) for n in range(1, 6)]
    verdicts = run([future, *burst], v=Velocity(count=3, window_ms=MINUTE_MS))[1]
    assert [each.decision for each in verdicts[1:]] == [ACCEPT] * 3 + [REVIEW] * 2


def test_amount_is_measured_by_the_accounts_own_history() -> None:
    rule = Amount(factor=5, deviations=3, min_history=5, floor=50)
    usual = [payment(n, n * MINUTE_MS, amount=20.0 + n) for n in range(5)]
    assert decisions([*usual, payment(9, 10**7, amount=500.0)], a=rule)[-1] == REVIEW
    assert decisions([*usual, payment(9, 10**7, amount=80.0)], a=rule)[-1] == ACCEPT
    assert decisions([*usual[:4], payment(9, 10**7, amount=500.0)], a=rule)[-1] == ACCEPT
    rich = [each._replace(amount=each.amount * 20) for each in usual]
    assert decisions([*rich, payment(9, 10**7, amount=500.0)], a=rule)[-1] == ACCEPT


def test_amounts_in_other_currencies_are_compared_by_their_worth() -> None:
    rule = Amount(factor=5, deviations=3, min_history=5, floor=50)
    usual = [payment(n, n * MINUTE_MS) for n in range(5)]
    yen = payment(9, 10**7, amount=3000.0, currency="JPY")
    assert decisions([*usual, yen], a=rule)[-1] == ACCEPT
    assert decisions([*usual, yen._replace(currency="EUR")], a=rule)[-1] == REVIEW


def test_a_new_device_matters_on_an_old_account_and_a_large_payment() -> None:
    rule = NewDevice(min_history=3, factor=2, floor=30)
    usual = [payment(n, n * MINUTE_MS) for n in range(3)]
    stranger = payment(9, 10**7, device="other", amount=90.0)
    assert decisions([*usual, stranger], d=rule)[-1] == REVIEW
    assert decisions([*usual, stranger._replace(amount=25.0)], d=rule)[-1] == ACCEPT
    assert decisions([*usual[:2], stranger], d=rule)[-1] == ACCEPT
    learned = [*usual, stranger._replace(amount=20.0), stranger]
    assert decisions(learned, d=rule)[-1] == ACCEPT


def test_devices_are_bounded_and_those_in_use_stay() -> None:
    many = []
    for n in range(30):
        many += [payment(2 * n, n * MINUTE_MS, device=f"d{n}"), payment(2 * n + 1, n * MINUTE_MS)]
    history, _ = run(many)
    assert history is not None
    assert len(history[5]) == DEVICES_MAX
    assert "phone" in history[5]


def test_travel_is_impossible_only_when_the_time_is_too_short() -> None:
    rule = Travel(speed_kmh=900)
    hours = 3_600_000
    assert decisions([payment(0), payment(1, hours, country="BR")], t=rule)[-1] == REVIEW
    assert decisions([payment(0), payment(1, 12 * hours, country="BR")], t=rule)[-1] == ACCEPT
    assert decisions([payment(0), payment(1, 60_000, country="FR")], t=rule)[-1] == ACCEPT
    assert decisions([payment(0), payment(1, 60_000, country="??")], t=rule)[-1] == ACCEPT
    backwards = [payment(0, hours), payment(1, 0, country="BR")]
    assert decisions(backwards, t=rule)[-1] == REVIEW


def test_the_owner_does_not_suffer_for_the_thief() -> None:
    at_home = payment(0)
    abroad = payment(1, 60_000, country="BR")
    home_again = payment(2, 120_000)
    assert decisions([at_home, abroad, home_again], t=Travel()) == [ACCEPT, REVIEW, ACCEPT]


def test_merchants_and_weights() -> None:
    listed = payment(1, merchant="shady", amount=50.0)
    assert decisions([listed], m=Merchants(merchants=("shady",))) == [REVIEW]
    assert decisions([listed], m=Merchants(merchants=("shady",), floor=60)) == [ACCEPT]
    half = Merchants(merchants=("shady",), weight=0.5)
    verdict = run([listed], m=half)[1][0]
    assert (verdict.decision, verdict.score, len(verdict.reasons)) == (ACCEPT, 0.5, 1)
    assert decisions([listed], m=half, n=half) == [REVIEW]
    assert decisions([listed], m=Merchants(merchants=("shady",), enabled=False)) == [ACCEPT]


def test_a_limit_holds_whatever_the_history() -> None:
    rule = Limit(amount=100)
    assert decisions([payment(amount=100.0), payment(amount=100.01)], x=rule) == [ACCEPT, REVIEW]
    assert decisions([payment(amount=110.0, currency="USD")], x=rule) == [ACCEPT]


_payments = st.builds(
    payment,
    number=st.integers(0, 10**6),
    at_ms=st.integers(0, 5 * 3_600_000),
    amount=st.floats(0.01, 1e6),
    currency=st.sampled_from(["EUR", "USD", "XXX"]),
    merchant=st.sampled_from(["grocer", "shady-1"]),
    country=st.sampled_from(["DE", "FR", "BR", "JP", "??"]),
    device=st.sampled_from([f"d{n}" for n in range(20)]),
)


@given(st.lists(_payments, max_size=60))
def test_a_history_survives_json_and_changes_no_verdict(payments: list[Payment]) -> None:
    rules = RuleSet(DEFAULT_RULES)
    kept: History | None = None
    restored: History | None = None
    for each in payments:
        before = kept
        kept, verdict = judge(kept, each, rules)
        # Pure: judged again from the same history, the same comes out.
        assert judge(before, each, rules) == (kept, verdict)
        restored, again = judge(restored, each, rules)
        assert again == verdict
        restored = decode_history(orjson.loads(orjson.dumps(restored)))
        assert restored == kept


@given(st.lists(_payments, max_size=120))
def test_a_history_stays_bounded_and_its_times_in_order(payments: list[Payment]) -> None:
    rules = RuleSet(DEFAULT_RULES)
    history: History | None = None
    for each in payments:
        history, verdict = judge(history, each, rules)
        assert list(history[6]) == sorted(history[6])
        assert 0 < len(history[6]) <= rules.times_max
        assert len(history[5]) <= DEVICES_MAX
        assert (verdict.decision == REVIEW) == (verdict.score >= 1)


@given(st.lists(st.integers(0, 100_000), min_size=1, max_size=40), st.integers(1, 6))
def test_velocity_in_any_order_agrees_with_counting(times: list[int], count: int) -> None:
    """The payment that makes a window too full is flagged, whichever order they arrive in."""
    rule = Velocity(count=count, window_ms=10_000)
    rules, history, seen = RuleSet({"v": rule}), None, []
    for number, at_ms in enumerate(sorted(times)):
        history, verdict = judge(history, payment(number, at_ms), rules)
        seen.append(at_ms)
        inside = [each for each in seen if at_ms - 10_000 < each <= at_ms]
        assert (verdict.decision == REVIEW) == (len(inside) > count)


def test_payments_and_verdicts_round_trip() -> None:
    one = payment(1, merchant="ü")
    assert decode_payment(encode_payment(one)) == one
    verdict = run([one._replace(merchant="shady")], m=Merchants(merchants=("shady",)))[1][0]
    assert decode_verdict(encode_verdict(verdict, 3, 77)) == (verdict, 3, 77)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "tombstone"),
        (b"{", "not JSON"),
        (b"[]", "JSON object"),
        (b"{}", "payment is missing"),
        (encode_payment(payment(amount=-1.0)), "amount"),
        (encode_payment(payment(amount="12")), "amount"),
        (encode_payment(payment(account="")), "empty"),
        (encode_payment(payment(country=7)), "country"),
        (encode_payment(payment(time_ms=1.5)), "time"),
        (encode_payment(payment(time_ms=True)), "time"),
    ],
)
def test_what_is_no_payment_is_refused_with_a_reason(value: bytes | None, said: str) -> None:
    with pytest.raises(PaymentError, match=said):
        decode_payment(value)


def test_rules_round_trip_and_refuse_what_they_do_not_know() -> None:
    for rule in DEFAULT_RULES.values():
        assert decode_rule(encode_rule(rule)) == rule
    assert make_rule({"kind": "velocity", "count": "9", "enabled": "false"}) == Velocity(
        count=9, enabled=False
    )
    assert make_rule({"kind": "merchants", "merchants": "a, b"}) == Merchants(merchants=("a", "b"))
    for wrong in (
        {},
        {"kind": "magic"},
        {"kind": "velocity", "count": -1},
        {"kind": "velocity", "count": 1.5},
        {"kind": "velocity", "count": True},
        {"kind": "velocity", "window": 5},
        {"kind": "merchants", "merchants": [1]},
        {"kind": "travel", "enabled": "perhaps"},
        {"kind": "amount", "factor": "nan"},
    ):
        with pytest.raises(RuleError):
            make_rule(wrong)


def test_distances_are_symmetric_and_neighbours_touch() -> None:
    assert distance_km("DE", "FR") == 0
    assert 4000 < distance_km("DE", "US") < 9000
    for here in COUNTRIES:
        assert distance_km(here, "DE") == pytest.approx(distance_km("DE", here))
