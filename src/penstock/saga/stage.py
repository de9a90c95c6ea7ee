"""The services of a saga as processes: started, killed, waited for, and their books checked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.client.database import open_database
from penstock.client.outbox.shard import read_backlog
from penstock.client.session import LOG
from penstock.saga import tables
from penstock.saga.books import SERVICES, read_books, read_counts
from penstock.saga.checker import check
from penstock.saga.reaction import Fault
from penstock.saga.store import create_tables, fill_stock

_PARTITIONS = 3
_STOP_S = 30.0
_QUIET_S = 2.0
_LOOK_S = 0.25


class Stage:
    """A folder with a database for each service, unless they are elsewhere."""

    def __init__(
        self,
        directory: Path,
        kafka: Mapping[str, Any],
        *,
        urls: Mapping[str, str] | None = None,
        faults: Iterable[Fault] = (),
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        own = {name: f"sqlite:///{directory / name}.db" for name in SERVICES}
        self.directory, self.kafka, self.urls = directory, dict(kafka), own | dict(urls or {})
        self.faults = tuple(faults)
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def prepare(self, stock: Mapping[str, int]) -> None:
        """Topics, tables and goods, as far as they are not there."""
        create_topics(self.kafka)
        for name, url in self.urls.items():
            with closing(open_database(url)) as database, database.transaction() as sql:
                create_tables(sql, name, constraints="no-idempotence" not in self.faults)
                if name == "inventory":
                    fill_stock(sql, stock)

    def start(self, *names: str) -> None:
        for name in names or SERVICES:
            command = [sys.executable, "-m", "penstock", "saga", "service", name]
            # By the environment: a password does not belong in the list of processes.
            given = {f"PENSTOCK_SAGA_{number}": key for number, key in enumerate(self.kafka)}
            settings = [f"-X{key}=${{env:{variable}}}" for variable, key in given.items()]
            secrets = {variable: str(self.kafka[key]) for variable, key in given.items()}
            secrets["PENSTOCK_SAGA_DATABASE"] = self.urls[name]
            faults = [f"--fault={each}" for each in self.faults]
            with open(self.directory / f"{name}.log", "ab") as log:
                self._running[name] = subprocess.Popen(
                    [*command, *settings, *faults],
                    stdout=log,
                    stderr=log,
                    env=os.environ | secrets,
                )

    def pid(self, name: str) -> int:
        return self._running[name].pid

    def kill(self, name: str) -> None:
        """SIGKILL: nothing is finished, closed or said."""
        process = self._running.pop(name)
        process.kill()
        process.wait()

    def stop(self) -> None:
        for process in self._running.values():
            process.send_signal(signal.SIGTERM)
        for process in self._running.values():
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running.clear()

    @property
    def running(self) -> list[str]:
        return [name for name, process in self._running.items() if process.poll() is None]

    def settle(
        self, look: Callable[[], None] = lambda: None, *, stuck_s: float = 60.0
    ) -> list[str]:
        """Wait until all is well, or nothing has moved for so long; what is wrong then."""
        last, since, checked = None, time.monotonic(), False
        while True:
            look()
            now = (read_counts(self.urls), self.unsent())
            if now != last:
                last, since, checked = now, time.monotonic(), False
            quiet_s = time.monotonic() - since
            if quiet_s > stuck_s or (quiet_s > _QUIET_S and not checked):
                found, checked = check(read_books(self.urls, self.kafka)), True
                if not found or quiet_s > stuck_s:
                    return found
            time.sleep(_LOOK_S)

    def unsent(self) -> int:
        """Events in the outboxes of all services."""
        waiting = 0
        for url in self.urls.values():
            with closing(open_database(url)) as database:
                waiting += read_backlog(database).waiting
        return waiting


def create_topics(kafka: Mapping[str, Any]) -> None:
    admin = AdminClient(dict(kafka), logger=LOG)
    made = admin.create_topics([NewTopic(topic, _PARTITIONS) for topic in tables.TOPICS])
    for future in made.values():
        try:
            future.result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
