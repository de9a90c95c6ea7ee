"""Reading the books of all services, for the checker and the live view."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from typing import Any

from confluent_kafka import Consumer, KafkaError, TopicPartition

from penstock.client.database import Statements, open_database
from penstock.client.inbox.identity import event_id
from penstock.client.record import Message
from penstock.client.session import LOG
from penstock.saga import tables
from penstock.saga.checker import Books, Reservation

SERVICES = tuple(each.name for each in tables.MACHINES)
_TIMEOUT_S = 30.0


def books_of(databases: Mapping[str, Statements], events: Mapping[str, Sequence[str]]) -> Books:
    states: dict[str, dict[str, str]] = {}
    for service in SERVICES:
        rows = databases[service].execute("select order_id, state from saga_state").rows
        states[service] = dict(rows)
    bodies = databases["orders"].execute("select order_id, body from saga_state").rows
    stock = databases["inventory"].execute("select item, first, free from stock").rows
    held = databases["inventory"].execute("select order_id, item, quantity, held from reservation")
    ledger = databases["payment"].execute("select order_id, kind from ledger").rows
    return Books(
        states=states,
        stock={item: (first, free) for item, first, free in stock},
        reservations=[
            Reservation(order, item, quantity, bool(kept))
            for order, item, quantity, kept in held.rows
        ],
        charges=[order for order, kind in ledger if kind == "charge"],
        refunds=[order for order, kind in ledger if kind == "refund"],
        events=events,
        quantities={order: json.loads(body)["items"] for order, body in bodies},
    )


def read_books(urls: Mapping[str, str], kafka: Mapping[str, Any]) -> Books:
    events = read_events(kafka)
    with ExitStack() as stack:
        opened = {
            service: stack.enter_context(closing(open_database(url)))
            for service, url in urls.items()
        }
        return books_of(
            {
                service: stack.enter_context(database.transaction(write=False))
                for service, database in opened.items()
            },
            events,
        )


def read_counts(urls: Mapping[str, str]) -> dict[str, Counter[str]]:
    """Orders by state, as each service has them."""
    counts: dict[str, Counter[str]] = {}
    for service, url in urls.items():
        statement = "select state, count(*) from saga_state group by state"
        with closing(open_database(url)) as database, database.transaction(write=False) as sql:
            counts[service] = Counter(dict(sql.execute(statement).rows))
    return counts


def oldest_open_ms(url: str) -> int | None:
    """When the order was placed that waits longest for its end, as the order service has it."""
    ends = ", ".join(f"'{state}'" for state in sorted(tables.ORDERS.ends))
    statement = f"select min(placed_ms) from saga_state where state not in ({ends})"
    with closing(open_database(url)) as database, database.transaction(write=False) as sql:
        found: int | None = sql.execute(statement).rows[0][0]
        return found


def read_events(kafka: Mapping[str, Any]) -> dict[str, list[str]]:
    """The order of every event in the topics, each event id once."""
    consumer = Consumer(
        {
            **kafka,
            "group.id": "penstock-saga-checker",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            # An empty fetch says that a partition is at its end: soon, please.
            "fetch.wait.max.ms": 20,
        },
        logger=LOG,
    )
    try:
        return _read_to_end(consumer)
    finally:
        consumer.close()


def _read_to_end(consumer: Consumer) -> dict[str, list[str]]:
    described = consumer.list_topics(timeout=_TIMEOUT_S).topics
    left = {(topic, each) for topic in tables.TOPICS for each in described[topic].partitions}
    consumer.assign([TopicPartition(topic, each, 0) for topic, each in left])
    found: dict[str, dict[str, str]] = {topic: {} for topic in tables.TOPICS}
    while left:
        record = consumer.poll(_TIMEOUT_S)
        if record is None:
            raise TimeoutError(f"{len(left)} partitions could not be read to their ends")
        error = record.error()
        if error is None:
            message = as_message(record)
            found[message.topic][event_id(message)] = str(message.key)
        elif error.code() == KafkaError._PARTITION_EOF:
            left.discard((record.topic(), record.partition()))
    return {topic: list(events.values()) for topic, events in found.items()}


def as_message(record: Any) -> Message:
    """With the value as its bytes."""
    return Message(
        topic=record.topic(),
        partition=record.partition(),
        offset=record.offset(),
        key=(record.key() or b"").decode(errors="replace"),
        value=record.value(),
        timestamp=record.timestamp()[1],
        headers=record.headers() or [],
    )
