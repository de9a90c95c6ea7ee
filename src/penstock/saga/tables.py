"""The five machines of the order saga, one a service. Pure.

Choreography: nobody is in charge, each service acts on the events of others. Placed, reserved,
paid, fulfilled is how it should go. An order fails when its goods are not there or the payment is
declined. Whether a cancellation came in time is decided in one place: by fulfilment, which either
has begun, or stops for good.
"""

from __future__ import annotations

from penstock.saga.machine import NEW, Machine, Rule, machine

PLACED = "orders.placed"
CANCEL_REQUESTED = "orders.cancel-requested"
FAILED = "orders.failed"
CANCELLED = "orders.cancelled"
COMPLETED = "orders.completed"
RESERVED = "inventory.reserved"
REJECTED = "inventory.rejected"
PAID = "payments.paid"
DECLINED = "payments.declined"
REFUNDED = "payments.refunded"
FULFILLED = "fulfilment.fulfilled"
STOPPED = "fulfilment.stopped"
NOTIFIED = "notifications.sent"

PLACE = "place"
CANCEL = "cancel"
"""What a customer asks of the order service; not events."""

TOPICS = (
    PLACED,
    CANCEL_REQUESTED,
    FAILED,
    CANCELLED,
    COMPLETED,
    RESERVED,
    REJECTED,
    PAID,
    DECLINED,
    REFUNDED,
    FULFILLED,
    STOPPED,
    NOTIFIED,
)

_OPEN = ("placed", "cancelling")
_LATE = "place cancel inventory.rejected payments.declined fulfilment.fulfilled fulfilment.stopped"

ORDERS = machine(
    "orders",
    [
        Rule(NEW, PLACE, "placed", emits=(PLACED,)),
        Rule("placed", CANCEL, "cancelling", emits=(CANCEL_REQUESTED,)),
        *(Rule(state, REJECTED, "failed", emits=(FAILED,)) for state in _OPEN),
        *(Rule(state, DECLINED, "failed", emits=(FAILED,)) for state in _OPEN),
        *(Rule(state, FULFILLED, "completed", emits=(COMPLETED,)) for state in _OPEN),
        Rule("cancelling", STOPPED, "cancelled", emits=(CANCELLED,)),
    ],
    ignored=[
        (NEW, "cancel inventory.rejected payments.declined fulfilment.fulfilled"),
        (NEW, STOPPED),
        ("placed", "place fulfilment.stopped"),
        ("cancelling", "place cancel"),
        *((state, _LATE) for state in ("failed", "completed", "cancelled")),
    ],
    ends=("failed", "completed", "cancelled"),
)

INVENTORY = machine(
    "inventory",
    [
        Rule(NEW, PLACED, "reserved", does="reserve", emits=(RESERVED,), when="in stock"),
        Rule(NEW, PLACED, "rejected", emits=(REJECTED,)),
        # The end of an order can be heard of before its beginning.
        Rule(NEW, FAILED, "void"),
        Rule(NEW, CANCELLED, "void"),
        Rule("reserved", FAILED, "released", does="release"),
        Rule("reserved", CANCELLED, "released", does="release"),
        Rule("reserved", FULFILLED, "shipped"),
    ],
    ignored=[
        (NEW, FULFILLED),
        ("reserved", PLACED),
        *(
            (state, f"{PLACED} {FAILED} {CANCELLED} {FULFILLED}")
            for state in ("rejected", "void", "released", "shipped")
        ),
    ],
    ends=("rejected", "void", "released", "shipped"),
)

PAYMENT = machine(
    "payment",
    [
        Rule(NEW, RESERVED, "paid", does="charge", emits=(PAID,), when="card accepted"),
        Rule(NEW, RESERVED, "declined", emits=(DECLINED,)),
        Rule(NEW, FAILED, "void"),
        Rule(NEW, CANCELLED, "void"),
        Rule("paid", FAILED, "refunded", does="refund", emits=(REFUNDED,)),
        Rule("paid", CANCELLED, "refunded", does="refund", emits=(REFUNDED,)),
    ],
    ignored=[
        ("paid", RESERVED),
        *(
            (state, f"{RESERVED} {FAILED} {CANCELLED}")
            for state in ("declined", "void", "refunded")
        ),
    ],
    ends=("paid", "declined", "void", "refunded"),
)

FULFILMENT = machine(
    "fulfilment",
    [
        Rule(NEW, PAID, "fulfilled", does="ship", emits=(FULFILLED,)),
        Rule(NEW, CANCEL_REQUESTED, "stopped", emits=(STOPPED,)),
    ],
    ignored=[(state, f"{PAID} {CANCEL_REQUESTED}") for state in ("fulfilled", "stopped")],
    ends=("fulfilled", "stopped"),
)

NOTIFICATION = machine(
    "notification",
    [
        Rule(NEW, COMPLETED, "told of completion", does="notify", emits=(NOTIFIED,)),
        Rule(NEW, FAILED, "told of failure", does="notify", emits=(NOTIFIED,)),
        Rule(NEW, CANCELLED, "told of cancellation", does="notify", emits=(NOTIFIED,)),
    ],
    ignored=[
        (state, f"{COMPLETED} {FAILED} {CANCELLED}")
        for state in ("told of completion", "told of failure", "told of cancellation")
    ],
    ends=("told of completion", "told of failure", "told of cancellation"),
)

MACHINES: tuple[Machine, ...] = (ORDERS, INVENTORY, PAYMENT, FULFILMENT, NOTIFICATION)
