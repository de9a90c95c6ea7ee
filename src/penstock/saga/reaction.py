"""What a service does with one event, in one transaction of its database.

The inbox drops what was taken before, the table says what follows, the store keeps it, and the
outbox has the events to send. The same function serves the running service and the simulation.
Faults can be planted, to show that the checker finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Literal

from penstock.client import inbox, outbox
from penstock.client.database import Statements
from penstock.client.inbox.identity import Received
from penstock.saga import tables
from penstock.saga.machine import NEW, Machine, Rule
from penstock.saga.store import ACTIONS, OrderBody, answer, read_state, write_state

Fault = Literal["no-outbox", "no-idempotence", "no-compensation"]
FAULTS: tuple[Fault, ...] = ("no-outbox", "no-idempotence", "no-compensation")
_COMPENSATION = ("release", "refund")

Emit = Callable[[str, OrderBody], None]
BY_NAME = {each.name: each for each in tables.MACHINES}


def react(
    sql: Statements,
    machine: Machine,
    message: Received,
    body: OrderBody,
    *,
    faults: Collection[Fault] = (),
    emit: Emit | None = None,
) -> bool:
    """False: the event changed nothing. `emit` stands in for the outbox where there is none."""
    careless = "no-idempotence" in faults and machine is tables.INVENTORY
    if not careless and not inbox.take(sql, machine.name, message):
        return False
    state = read_state(sql, body.order)
    if careless and message.topic == tables.PLACED:
        state = NEW
    return _apply(sql, machine, state, message.topic, body, faults, emit)


def ask_of_orders(sql: Statements, request: str, body: OrderBody) -> bool:
    """A customer places or cancels; False: it is too late, or was asked before."""
    state = read_state(sql, body.order)
    return _apply(sql, tables.ORDERS, state, request, body, (), None)


def _apply(
    sql: Statements,
    machine: Machine,
    state: str,
    event: str,
    body: OrderBody,
    faults: Collection[Fault],
    emit: Emit | None,
) -> bool:
    rule = machine.step(state, event, lambda question: answer(sql, question, body))
    if rule is None:
        return False
    rule = _without_compensation(rule) if "no-compensation" in faults else rule
    if rule.does is not None:
        ACTIONS[rule.does](sql, body)
    write_state(sql, body, rule.to)
    for topic in rule.emits:
        if emit is None:
            outbox.add(sql, topic, body.order, body.encode())
        else:
            emit(topic, body)
    return True


def _without_compensation(rule: Rule) -> Rule:
    return replace(rule, does=None) if rule.does in _COMPENSATION else rule


def topics_of(machine: Machine) -> list[str]:
    """What the service reads."""
    return [event for event in machine.events if event in tables.TOPICS]
