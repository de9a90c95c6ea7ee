"""Customers: they place orders, and some change their minds. From a seed, the same every time."""

from __future__ import annotations

import random
import time
from collections import deque

from penstock.client.database import OwnDatabase
from penstock.saga import tables
from penstock.saga.reaction import ask_of_orders
from penstock.saga.store import OrderBody

ITEMS = tuple(f"item-{number}" for number in range(20))
_DECLINED_SHARE = 0.05
_CANCEL_SHARE = 0.05
_REMEMBERED = 20


class Customers:
    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._seed = seed
        self._recent: deque[OrderBody] = deque(maxlen=_REMEMBERED)
        self.placed = 0

    def act(self, orders: OwnDatabase, count: int) -> None:
        """Place so many orders, and cancel one now and then; in one transaction."""
        with orders.transaction() as sql:
            for _ in range(count):
                body = self._order()
                ask_of_orders(sql, tables.PLACE, body)
                self._recent.append(body)
                self.placed += 1
                if self._dice.random() < _CANCEL_SHARE:
                    ask_of_orders(sql, tables.CANCEL, self._dice.choice(self._recent))

    def _order(self) -> OrderBody:
        dice = self._dice
        chosen = dice.sample(ITEMS, dice.randint(1, 3))
        items = {item: dice.randint(1, 3) for item in chosen}
        card = "bad" if dice.random() < _DECLINED_SHARE else "good"
        name = f"o-{self._seed}-{self.placed:06}"
        return OrderBody(name, items, 100 * sum(items.values()), card, time.time_ns() // 1_000_000)


def stock_for(orders: int) -> dict[str, int]:
    """A little less than so many orders ask for: the last ones find shelves empty."""
    each = round(orders * 2 * 2 / len(ITEMS) * 0.9)
    return dict.fromkeys(ITEMS, max(each, 5))
