"""Judging one payment: a pure function of the account's history, the payment and the rules.

A history is a plain tuple, so that keeping an old one costs nothing and writing one is one call of
a JSON encoder. It is bounded: so many devices, so many times of payments. It never looks at a
clock: time is the payment's own. A payment that arrives out of order is put in its place among the
times the history still holds; one that is older than the lateness bound is judged in the same way,
and marked.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from math import log, sqrt

from penstock.pipelines.jobs.fraud.model import (
    ACCEPT,
    EURO_PER_UNIT,
    REVIEW,
    Payment,
    Reason,
    Verdict,
)
from penstock.pipelines.jobs.fraud.place import distance_km
from penstock.pipelines.jobs.fraud.rule import (
    REVIEW_SCORE,
    Amount,
    Limit,
    Merchants,
    NewDevice,
    Rule,
    Travel,
    Velocity,
)

# payments learned from, mean and variance of the logarithm of their worth in euro, the last
# country and when it was paid in, devices (latest learned last), times of payments (ascending)
History = tuple[int, float, float, str, int, tuple[str, ...], tuple[int, ...]]

EMPTY: History = (0, 0.0, 0.0, "", 0, (), ())
LATENESS_MS = 600_000
DEVICES_MAX = 8
TIMES_MIN = 8
# Old payments fade: each new one weighs at least this much in the account's usual amount.
LEARNING_RATE_MIN = 0.02
# An account that always pays the same must not be flagged for one cent more.
SPREAD_MIN = 0.25


_make = tuple.__new__


class RuleSet:
    """The rules that are on, sorted by kind and with all that can be computed beforehand."""

    __slots__ = (
        "amounts",
        "devices",
        "horizon_ms",
        "limits",
        "listed",
        "times_max",
        "travels",
        "velocities",
    )

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        active = [(name, rules[name]) for name in sorted(rules) if rules[name].enabled]
        self.velocities = [(name, rule) for name, rule in active if isinstance(rule, Velocity)]
        self.amounts = [
            (name, rule, _log(rule.factor)) for name, rule in active if isinstance(rule, Amount)
        ]
        self.devices = [
            (name, rule, _log(rule.factor)) for name, rule in active if isinstance(rule, NewDevice)
        ]
        self.travels = [
            (name, rule, rule.speed_kmh / 3_600_000)
            for name, rule in active
            if isinstance(rule, Travel)
        ]
        self.limits = [(name, rule) for name, rule in active if isinstance(rule, Limit)]
        self.listed = _by_merchant(active)
        self.times_max = max((rule.count + 1 for _, rule in self.velocities), default=TIMES_MIN)
        longest_ms = max((rule.window_ms for _, rule in self.velocities), default=0)
        self.horizon_ms = longest_ms + LATENESS_MS


def judge(history: History | None, payment: Payment, rules: RuleSet) -> tuple[History, Verdict]:
    """The account's history with this payment in it, and the verdict on the payment."""
    identity, account, amount, currency, merchant, country, device, time_ms = payment
    count, mean, variance, place, place_ms, devices, times = history or EMPTY
    euro = amount * EURO_PER_UNIT.get(currency, 1.0)
    size = log(euro)
    reasons: list[tuple[float, Reason]] = []
    late = False

    if not times or time_ms >= times[-1]:
        times = (*times, time_ms)
        for name, velocity in rules.velocities:
            limit = velocity.count
            if len(times) > limit and time_ms - times[-1 - limit] < velocity.window_ms:
                reasons.append((velocity.weight, _too_many(name, velocity)))
        if times[0] < time_ms - rules.horizon_ms:
            times = times[bisect_left(times, time_ms - rules.horizon_ms) :]
    else:
        late = time_ms < times[-1] - LATENESS_MS
        index = bisect_right(times, time_ms)
        times = (*times[:index], time_ms, *times[index:])
        reasons.extend(_crowded(times, index, rules))
    if len(times) > rules.times_max:
        times = times[-rules.times_max :]

    for name, usual, factor in rules.amounts:
        if (
            count >= usual.min_history
            and euro >= usual.floor
            and size > mean + factor
            and size - mean > usual.deviations * max(SPREAD_MIN, sqrt(variance))
        ):
            reasons.append((usual.weight, _too_much(name, euro, mean)))
    if device not in devices:
        for name, known, factor in rules.devices:
            if count >= known.min_history and euro >= known.floor and size > mean + factor:
                reasons.append((known.weight, _unknown_device(name, device)))
    if country != place and place:
        reasons.extend(_travelled(place, country, abs(time_ms - place_ms), rules))
    if merchant in rules.listed:
        reasons.extend(_on_lists(merchant, euro, rules))

    if rules.limits:
        reasons.extend(_over_limits(euro, rules))

    if reasons:
        score = sum(weight for weight, _ in reasons)
        why = tuple([reason for _, reason in reasons])
        if score >= REVIEW_SCORE:
            # The history learns nothing from a payment that may not be the account's own, save
            # that it was made: the owner's next payment must not suffer for the thief's.
            verdict = Verdict(identity, account, REVIEW, score, why, late, time_ms)
            return (count, mean, variance, place, place_ms, devices, times), verdict
        verdict = Verdict(identity, account, ACCEPT, score, why, late, time_ms)
    else:
        # As Verdict(...), without the call: nearly every payment comes this way.
        verdict = _make(Verdict, (identity, account, ACCEPT, 0.0, (), late, time_ms))

    learned = _learn(history or EMPTY, size, country, device, time_ms, times)
    return learned, verdict


def _learn(
    history: History, size: float, country: str, device: str, time_ms: int, times: tuple[int, ...]
) -> History:
    """The history after a payment that is taken for the account's own."""
    count, mean, variance, place, place_ms, devices, _ = history
    count += 1
    rate = 1.0 / count if count < 50 else LEARNING_RATE_MIN
    difference = size - mean
    step = rate * difference
    if device not in devices or device == devices[0]:
        devices = _learned(devices, device)
    if time_ms >= place_ms:
        place, place_ms = country, time_ms
    spread = (1.0 - rate) * (variance + difference * step)
    return (count, mean + step, spread, place, place_ms, devices, times)


def decode_history(fields: list[object]) -> History:
    """A history as it came back from JSON, where tuples became lists."""
    count, mean, variance, place, place_ms, devices, times = fields
    return (count, mean, variance, place, place_ms, tuple(devices), tuple(times))  # type: ignore[arg-type, return-value]


def _crowded(times: tuple[int, ...], index: int, rules: RuleSet) -> Iterable[tuple[float, Reason]]:
    """Velocity for a payment out of order: any window that it stands in may be the full one."""
    for name, rule in rules.velocities:
        for first in range(max(0, index - rule.count), index + 1):
            last = first + rule.count
            if last < len(times) and times[last] - times[first] < rule.window_ms:
                yield rule.weight, _too_many(name, rule)
                break


def _travelled(
    place: str, country: str, elapsed_ms: int, rules: RuleSet
) -> Iterable[tuple[float, Reason]]:
    way_km = distance_km(place, country)
    for name, rule, km_per_ms in rules.travels:
        if way_km >= rule.min_distance_km and way_km > km_per_ms * elapsed_ms:
            detail = (
                f"{place} to {country}, {way_km:.0f} km or more, in {elapsed_ms / 60_000:.0f} min"
            )
            yield rule.weight, Reason(name, Travel.kind, detail)


def _learned(devices: tuple[str, ...], device: str) -> tuple[str, ...]:
    # A device in use never becomes the oldest, so it is not the one forgotten.
    if device in devices:
        return (*devices[1:], device) if len(devices) == DEVICES_MAX else devices
    return (*devices[1 - DEVICES_MAX :], device)


def _too_many(name: str, rule: Velocity) -> Reason:
    detail = f"more than {rule.count} payments in {rule.window_ms / 1000:g} s"
    return Reason(name, Velocity.kind, detail)


def _too_much(name: str, euro: float, mean: float) -> Reason:
    times_usual = 2.718281828459045 ** (log(euro) - mean)
    return Reason(name, Amount.kind, f"{times_usual:.1f} times what the account usually pays")


def _unknown_device(name: str, device: str) -> Reason:
    return Reason(name, NewDevice.kind, f"first payment from device {device}")


def _on_lists(merchant: str, euro: float, rules: RuleSet) -> Iterable[tuple[float, Reason]]:
    for name, rule in rules.listed[merchant]:
        if euro >= rule.floor:
            yield rule.weight, Reason(name, Merchants.kind, f"merchant {merchant} is listed")


def _over_limits(euro: float, rules: RuleSet) -> Iterable[tuple[float, Reason]]:
    for name, rule in rules.limits:
        if euro > rule.amount:
            yield rule.weight, Reason(name, Limit.kind, f"more than {rule.amount:g} euro")


def _by_merchant(active: list[tuple[str, Rule]]) -> dict[str, list[tuple[str, Merchants]]]:
    listed: dict[str, list[tuple[str, Merchants]]] = {}
    for name, rule in active:
        if isinstance(rule, Merchants):
            for merchant in rule.merchants:
                listed.setdefault(merchant, []).append((name, rule))
    return listed


def _log(factor: float) -> float:
    return log(factor) if factor > 0 else float("-inf")
