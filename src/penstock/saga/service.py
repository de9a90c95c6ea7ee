"""A running service of the saga: an application that reacts in its database and relays its outbox.

Each event is dealt with in one transaction; what comes again after a crash is known to the inbox. A
database or a broker that is away is waited for. An event that cannot be understood goes to the dead
letters of the service.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Collection, Mapping
from contextlib import closing
from typing import Any

from confluent_kafka import Producer

from penstock.client import App, Message, Retry
from penstock.client.database import OwnDatabase, open_database
from penstock.client.error import ClientError
from penstock.client.outbox import EVENT_ID, Relay
from penstock.client.session import LOG
from penstock.saga.reaction import BY_NAME, Fault, react, topics_of
from penstock.saga.store import OrderBody, create_tables

_LOG = logging.getLogger("penstock.saga")
_POLL_S = 0.05
_LEASE_S = 2.0
_AGAIN_S = 0.5
# The database will be back: nothing is given up for that.
_PATIENT = Retry(attempts=1_000_000, backoff="200ms", backoff_max="5s")
# For planted faults: the moment in which a crash does harm lasts, so that a few kills hit it.
_CARELESS_S = 0.02


class Service:
    def __init__(
        self, name: str, database: str, kafka: Mapping[str, Any], faults: Collection[Fault] = ()
    ) -> None:
        self._machine = BY_NAME[name]
        self._url, self._kafka, self._faults = database, dict(kafka), faults
        self._database: OwnDatabase | None = None
        self._unsent: list[tuple[str, OrderBody]] = []
        with closing(open_database(database)) as own, own.transaction() as sql:
            create_tables(sql, name, constraints="no-idempotence" not in faults)

    def run(self) -> None:
        """Until SIGTERM or Ctrl-C."""
        with Relay(self._url, kafka=self._kafka, lease_s=_LEASE_S, poll_s=_POLL_S):
            while not self._ran():
                time.sleep(_AGAIN_S)

    def _ran(self) -> bool:
        """False: no broker answered."""
        try:
            self.app().run()
            return True
        except ClientError as error:
            _LOG.warning("%s: %s; again soon", self._machine.name, error)
            return False

    def app(self) -> App:
        name = f"saga-{self._machine.name}"
        app = App(name, settings=self._kafka)
        # One after another: a database in a file has one writer.
        app.consumer(topics_of(self._machine), retry=_PATIENT, concurrency=1)(self.take)
        return app

    def take(self, value: dict[str, Any], message: Message) -> None:
        careless = self._emit if "no-outbox" in self._faults else None
        self._unsent.clear()
        try:
            self._database = self._database or open_database(self._url)
            with self._database.transaction() as sql:
                body = OrderBody.decode(value)
                react(sql, self._machine, message, body, faults=self._faults, emit=careless)
        except Exception:
            self._close()
            raise
        if careless is not None:
            self._send_unsent()

    def _close(self) -> None:
        database, self._database = self._database, None
        if database is not None:
            database.close()

    def _emit(self, topic: str, body: OrderBody) -> None:
        self._unsent.append((topic, body))

    def _send_unsent(self) -> None:
        """The fault that an outbox is there to prevent: committed, and not sent yet."""
        time.sleep(_CARELESS_S)
        producer = Producer(self._kafka, logger=LOG)
        for topic, body in self._unsent:
            value = json.dumps(body.encode()).encode()
            event = f"{body.order}/{topic}".encode()
            producer.produce(topic, value, body.order, headers={EVENT_ID: event})
        producer.flush()
