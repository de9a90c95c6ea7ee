"""Whether the books of all services agree, and every order has an end that its history explains.

Pure: given what the databases and the topics hold when nothing is under way, it returns what is
wrong, in words. How the books are read is in `books`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from penstock.saga import tables
from penstock.saga.machine import NEW

Kind = str
Order = str


@dataclass(frozen=True, slots=True)
class Reservation:
    order: Order
    item: str
    quantity: int
    held: bool
    """False: given back."""


@dataclass(frozen=True, slots=True)
class Books:
    """What there is when nothing is under way."""

    states: Mapping[str, Mapping[Order, str]]
    """By service, by order."""
    stock: Mapping[str, tuple[int, int]]
    """By item: how much there was at first, and how much is free now."""
    reservations: Sequence[Reservation]
    charges: Sequence[Order]
    refunds: Sequence[Order]
    """As the bank has them: one entry for each time."""
    events: Mapping[Kind, Sequence[Order]]
    """By topic: the order of each event, duplicates by event id left out."""
    quantities: Mapping[Order, Mapping[str, int]] = field(default_factory=dict)
    """What each order was for."""


_EXPECTED: Mapping[str, tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str]]] = {
    # By end of the order: states of inventory, payment, fulfilment and notification.
    "completed": (
        frozenset({"shipped"}),
        frozenset({"paid"}),
        frozenset({"fulfilled"}),
        frozenset({"told of completion"}),
    ),
    "failed": (
        frozenset({"rejected", "released"}),
        frozenset({"declined", "void"}),
        frozenset({NEW, "stopped"}),
        frozenset({"told of failure"}),
    ),
    "cancelled": (
        frozenset({"released", "void", "rejected"}),
        frozenset({"refunded", "void", "declined"}),
        frozenset({"stopped"}),
        frozenset({"told of cancellation"}),
    ),
}
_OTHERS = ("inventory", "payment", "fulfilment", "notification")
# What must be in the topics, and what must not, by end of the order.
_HISTORY: Mapping[str, tuple[frozenset[Kind], frozenset[Kind]]] = {
    "completed": (
        frozenset(
            {
                tables.PLACED,
                tables.RESERVED,
                tables.PAID,
                tables.FULFILLED,
                tables.COMPLETED,
                tables.NOTIFIED,
            }
        ),
        frozenset({tables.FAILED, tables.CANCELLED, tables.REFUNDED, tables.STOPPED}),
    ),
    "failed": (
        frozenset({tables.PLACED, tables.FAILED, tables.NOTIFIED}),
        frozenset({tables.COMPLETED, tables.CANCELLED, tables.FULFILLED, tables.PAID}),
    ),
    "cancelled": (
        frozenset(
            {
                tables.PLACED,
                tables.CANCEL_REQUESTED,
                tables.STOPPED,
                tables.CANCELLED,
                tables.NOTIFIED,
            }
        ),
        frozenset({tables.COMPLETED, tables.FAILED, tables.FULFILLED}),
    ),
}


def check(books: Books) -> list[str]:
    """What is wrong; nothing if all is well."""
    return [
        *_ends(books),
        *_stock(books),
        *_reservations(books),
        *_money(books),
        *_histories(books),
    ]


def _ends(books: Books) -> Iterator[str]:
    orders = books.states["orders"]
    for order, state in orders.items():
        expected = _EXPECTED.get(state)
        if expected is None:
            yield f"order {order} is stuck: {state}"
            continue
        for service, allowed in zip(_OTHERS, expected, strict=True):
            found = books.states[service].get(order, NEW)
            if found not in allowed:
                yield f"order {order} is {state}, and {service} says {found}"
    for service in _OTHERS:
        for order in books.states[service].keys() - orders.keys():
            yield f"{service} knows order {order}, which was never placed"


def _stock(books: Books) -> Iterator[str]:
    held: Counter[str] = Counter()
    for each in books.reservations:
        held[each.item] += each.quantity if each.held else 0
    for item, (first, free) in books.stock.items():
        if free < 0:
            yield f"item {item}: {free} in stock"
        if first - held[item] != free:
            yield f"item {item}: {first} at first, {held[item]} reserved, {free} free"


def _reservations(books: Books) -> Iterator[str]:
    states = books.states["inventory"]
    by_order: dict[Order, list[Reservation]] = {}
    for each in books.reservations:
        by_order.setdefault(each.order, []).append(each)
    for order, found in by_order.items():
        wanted = books.quantities.get(order)
        reserved = Counter({each.item: 0 for each in found})
        for each in found:
            reserved[each.item] += each.quantity
        if wanted is not None and dict(reserved) != dict(wanted):
            yield f"order {order} is for {dict(wanted)}, and {dict(reserved)} was reserved"
    for order, state in states.items():
        holds = any(each.held for each in by_order.get(order, ()))
        if holds != (state in ("reserved", "shipped")):
            yield f"inventory of order {order} is {state}, and goods are {_held(holds)}"


def _held(holds: bool) -> str:
    return "held" if holds else "not held"


def _money(books: Books) -> Iterator[str]:
    charged, refunded = Counter(books.charges), Counter(books.refunds)
    orders = books.states["orders"]
    for order in charged.keys() | refunded.keys() | orders.keys():
        if charged[order] > 1:
            yield f"order {order} was charged {charged[order]} times"
        if refunded[order] > charged[order]:
            yield f"order {order} was charged {charged[order]} and refunded {refunded[order]} times"
        owed = int(orders.get(order) == "completed")
        if charged[order] - refunded[order] != owed and charged[order] <= 1:
            kept = charged[order] - refunded[order]
            yield f"order {order} is {orders.get(order, 'unknown')}, and {kept} charges were kept"


def _histories(books: Books) -> Iterator[str]:
    seen: dict[Order, Counter[Kind]] = {order: Counter() for order in books.states["orders"]}
    for kind, orders in books.events.items():
        for order in orders:
            seen.setdefault(order, Counter())[kind] += 1
    for order, kinds in seen.items():
        state = books.states["orders"].get(order)
        if state is None:
            yield f"{', '.join(sorted(kinds))} of order {order}, which was never placed"
            continue
        must, never = _HISTORY.get(state, (frozenset(), frozenset()))
        yield from _named(order, state, must - kinds.keys(), "has no")
        yield from _named(order, state, never & kinds.keys(), "has")
        again = {kind for kind, count in kinds.items() if count > 1 and kind != tables.NOTIFIED}
        yield from _named(order, state, again, "has more than one")


def _named(order: Order, state: str, kinds: Iterable[Kind], how: str) -> Iterator[str]:
    for kind in sorted(kinds):
        yield f"order {order} is {state}, and {how} {kind}"
