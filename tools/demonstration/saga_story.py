"""The order saga of the demo: services are killed in the middle, then all books are checked."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from penstock.client.database import open_database
from penstock.saga.books import read_counts
from penstock.saga.customer import Customers, stock_for
from penstock.saga.stage import Stage
from tools.demonstration.process import Broker
from tools.demonstration.telling import chapter, check, say

ORDERS = 300
SEED = 7


def tell_of_the_saga(broker: Broker, home: Path) -> None:
    chapter("8  Five services that agree through events")
    stage = Stage(home / "saga", {"bootstrap.servers": broker.address})
    stage.prepare(stock_for(ORDERS))
    began = time.perf_counter()
    try:
        stage.start()
        say("orders, inventory, payment, fulfilment, notification", "a process and a database each")
        _place_and_kill(stage)
        faults = stage.settle()
    finally:
        stage.stop()
    counts = read_counts(stage.urls)
    states = ", ".join(f"{count} {state}" for state, count in sorted(counts["orders"].items()))
    say(f"{ORDERS} orders in {time.perf_counter() - began:.0f} s: {states}")
    say(
        f"{counts['payment']['refunded']} refunded, {counts['notification'].total()} customers told"
    )
    check(not faults, "every order came to an end that its history explains, and all books agree")


def _place_and_kill(stage: Stage) -> None:
    customers = Customers(SEED)
    with closing(open_database(stage.urls["orders"])) as orders:
        customers.act(orders, ORDERS // 2)
        for name in ("inventory", "payment"):
            stage.kill(name)
        say("kill -9 of inventory and payment", "orders are placed all the same")
        customers.act(orders, ORDERS - ORDERS // 2)
    stage.start("inventory", "payment")
