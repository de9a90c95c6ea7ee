"""Payments and verdicts, their JSON and their topics. Knows no rule and no Kafka client."""

import math
from typing import Any, Literal, NamedTuple

import orjson

PAYMENTS = "payments"
VERDICTS = "fraud.verdicts"
REVIEWS = "fraud.reviews"
DEAD_LETTERS = "fraud.dead-letters"
RULES = "fraud.rules"

ACCEPT: Literal["accept"] = "accept"
REVIEW: Literal["review"] = "review"

# Rough worth of one unit in euro: good enough to compare an account's payments with each other,
# and fixed, so that a verdict never depends on when it was given.
EURO_PER_UNIT = {
    "EUR": 1.0,
    "USD": 0.9,
    "GBP": 1.17,
    "CHF": 1.05,
    "SEK": 0.09,
    "NOK": 0.086,
    "DKK": 0.134,
    "PLN": 0.235,
    "CZK": 0.04,
    "HUF": 0.0025,
    "JPY": 0.006,
    "CNY": 0.125,
    "INR": 0.0105,
    "BRL": 0.165,
    "CAD": 0.65,
    "AUD": 0.58,
    "MXN": 0.048,
    "ZAR": 0.05,
    "TRY": 0.023,
    "AED": 0.245,
}


_make = tuple.__new__


class PaymentError(ValueError):
    """A record that is no payment."""


class Payment(NamedTuple):
    payment: str
    account: str
    amount: float
    currency: str
    merchant: str
    country: str
    device: str
    time_ms: int


class Reason(NamedTuple):
    rule: str
    kind: str
    detail: str


class Verdict(NamedTuple):
    payment: str
    account: str
    decision: str
    score: float
    reasons: tuple[Reason, ...]
    late: bool
    time_ms: int


def decode_payment(value: bytes | None) -> Payment:
    """The payment in a record's value; PaymentError says which field is wrong."""
    if value is None:
        raise PaymentError("a payment has a value; this record is a tombstone")
    try:
        fields = orjson.loads(value)
    except orjson.JSONDecodeError as error:
        raise PaymentError(f"not JSON: {error}") from None
    try:
        identity, account, amount = fields["payment"], fields["account"], fields["amount"]
        currency, merchant, country = fields["currency"], fields["merchant"], fields["country"]
        device, time_ms = fields["device"], fields["time"]
    except KeyError as error:
        raise PaymentError(f"field {error.args[0]} is missing") from None
    except TypeError:
        raise PaymentError("a payment is a JSON object") from None
    # One expression instead of a loop over fields, and no call of the class: this runs for every
    # payment.
    payment = _make(
        Payment, (identity, account, amount, currency, merchant, country, device, time_ms)
    )
    if not (
        type(identity) is str
        and type(account) is str
        and (type(amount) is float or type(amount) is int)
        and type(currency) is str
        and type(merchant) is str
        and type(country) is str
        and type(device) is str
        and type(time_ms) is int
        and 0 < amount < math.inf
        and time_ms >= 0
        and identity
        and account
    ):
        raise PaymentError(_complaint(payment))
    return payment


def encode_payment(payment: Payment) -> bytes:
    return orjson.dumps(
        {
            "payment": payment.payment,
            "account": payment.account,
            "amount": payment.amount,
            "currency": payment.currency,
            "merchant": payment.merchant,
            "country": payment.country,
            "device": payment.device,
            "time": payment.time_ms,
        }
    )


def encode_verdict(verdict: Verdict, partition: int, offset: int) -> bytes:
    """JSON of a verdict together with the place of its payment in the payments topic."""
    identity, account, decision, score, reasons, late, time_ms = verdict
    return orjson.dumps(
        {
            "payment": identity,
            "account": account,
            "decision": decision,
            "score": score,
            "reasons": [reason._asdict() for reason in reasons] if reasons else reasons,
            "late": late,
            "time": time_ms,
            "partition": partition,
            "offset": offset,
        }
    )


def decode_verdict(value: bytes) -> tuple[Verdict, int, int]:
    """The verdict, and the partition and offset of its payment."""
    fields: dict[str, Any] = orjson.loads(value)
    verdict = Verdict(
        fields["payment"],
        fields["account"],
        fields["decision"],
        fields["score"],
        tuple(Reason(**reason) for reason in fields["reasons"]),
        fields["late"],
        fields["time"],
    )
    return verdict, fields["partition"], fields["offset"]


def _complaint(payment: Payment) -> str:
    for name in ("payment", "account", "currency", "merchant", "country", "device"):
        if type(getattr(payment, name)) is not str:
            return f"field {name} is not text"
    if payment.payment == "" or payment.account == "":
        return "fields payment and account must not be empty"
    if type(payment.time_ms) is not int or payment.time_ms < 0:
        return "field time is not a time in milliseconds since 1970"
    return "field amount is not a positive number"
