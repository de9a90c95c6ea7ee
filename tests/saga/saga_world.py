"""All services in one process, on real databases in memory, with topics that deliver late, twice
and in any order. The dice are a seed's."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Collection
from contextlib import closing

from penstock.client.database import Statements, statements_of
from penstock.client.outbox import EVENT_ID
from penstock.client.record import Message
from penstock.saga import tables
from penstock.saga.books import books_of
from penstock.saga.checker import Books
from penstock.saga.machine import Machine
from penstock.saga.reaction import Fault, ask_of_orders, react, topics_of
from penstock.saga.store import OrderBody, create_tables, fill_stock

STOCK = {"lamp": 6, "chair": 4}


class World:
    def __init__(self, seed: int, faults: Collection[Fault] = ()) -> None:
        self.dice = random.Random(seed)
        self.faults = faults
        self.connections = {
            each.name: sqlite3.connect(":memory:", isolation_level=None) for each in tables.MACHINES
        }
        self.databases: dict[str, Statements] = {}
        for name, connection in self.connections.items():
            connection.execute("begin")
            self.databases[name] = statements_of(connection)
            create_tables(self.databases[name], name, constraints="no-idempotence" not in faults)
        fill_stock(self.databases["inventory"], STOCK)
        self.underway: list[tuple[Machine, Message]] = []
        self.events: dict[str, list[str]] = {topic: [] for topic in tables.TOPICS}
        self.offset = 0

    def close(self) -> None:
        for connection in self.connections.values():
            connection.close()

    def ask(self, request: str, body: OrderBody) -> None:
        ask_of_orders(self.databases["orders"], request, body)
        self._relay("orders")

    def settle(self) -> None:
        """Deliver until nothing is under way."""
        while self.underway:
            place = self.dice.randrange(len(self.underway))
            machine, message = self.underway[place]
            if self.dice.random() < 0.8:
                self.underway.pop(place)
            body = OrderBody.decode(json.loads(message.value))
            emit = self._careless if "no-outbox" in self.faults else None
            sql = self.databases[machine.name]
            react(sql, machine, message, body, faults=self.faults, emit=emit)
            self._relay(machine.name)

    def _careless(self, topic: str, body: OrderBody) -> None:
        """Sent behind the transaction, by a process that may die before that."""
        if self.dice.random() > 0.1:
            self._send(topic, body.order, json.dumps(body.encode()).encode(), f"e-{self.offset}")

    def _relay(self, service: str) -> None:
        sql = self.databases[service]
        for topic, key, value, event in sql.execute(
            "select topic, key, value, event_id from penstock_outbox order by id"
        ).rows:
            self._send(topic, key.decode(), value, event)
        sql.execute("delete from penstock_outbox")

    def _send(self, topic: str, key: str, value: bytes, event: str) -> None:
        self.offset += 1
        self.events[topic].append(key)
        message = Message(topic, 0, self.offset, key, value, 0, [(EVENT_ID, event.encode())])
        self.underway += [
            (machine, message) for machine in tables.MACHINES if topic in topics_of(machine)
        ]

    def books(self) -> Books:
        return books_of(self.databases, self.events)


def run(seed: int, faults: Collection[Fault] = (), orders: int = 8) -> Books:
    """Orders of which some are declined, some are too many for the stock, some are cancelled."""
    with closing(World(seed, faults)) as world:
        for number in range(orders):
            dice = world.dice
            items = {dice.choice(list(STOCK)): dice.randint(1, 3)}
            card = "good" if dice.random() < 0.8 else "bad"
            body = OrderBody(f"o-{number}", items, 10, card, 0)
            world.ask(tables.PLACE, body)
            if dice.random() < 0.4:
                for _ in range(dice.randrange(6)):
                    _deliver_one(world)
                world.ask(tables.CANCEL, body)
        world.settle()
        return world.books()


def _deliver_one(world: World) -> None:
    kept, world.underway = world.underway[1:], world.underway[:1]
    first = list(world.underway)
    if first:
        machine, message = first[0]
        body = OrderBody.decode(json.loads(message.value))
        emit = world._careless if "no-outbox" in world.faults else None
        world.underway = []
        react(
            world.databases[machine.name],
            machine,
            message,
            body,
            faults=world.faults,
            emit=emit,
        )
        world._relay(machine.name)
    world.underway = kept + world.underway
