"""Services, brokers and database connections of the order saga killed at random, then the books.

python -m tools.saga_kill [--seconds 600] [--rate 3000] [--nodes 3] [--postgres] [--fault no-outbox]

With a planted fault the run has to end with something wrong, or the checker is worth nothing.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from penstock.client.database import OwnDatabase, open_database
from penstock.saga.books import SERVICES, read_counts
from penstock.saga.customer import Customers, stock_for
from penstock.saga.reaction import FAULTS, Fault
from penstock.saga.stage import Stage
from penstock.testing.broker import Broker
from penstock.testing.cluster import Cluster
from tools.postgres import Postgres
from tools.progress import Progress

_TICK_S = 0.1
_BETWEEN_S = 2.0
_DOWN_S = 3.0
_STUCK_S = 60.0
_PATIENCE_S = 300.0
_TELLING_S = 20.0


@dataclass
class Killer:
    """Does something terrible every two seconds, and has it all up again at the end."""

    stage: Stage
    brokers: Broker | Cluster
    server: Postgres | None
    dice: random.Random
    done: Counter[str] = field(default_factory=Counter)
    down: dict[str, float] = field(default_factory=dict)

    def strike(self) -> None:
        kinds = ["service", "service", "service", "broker"]
        if self.server is not None:
            kinds.append("connections")
        kind = self.dice.choice(kinds)
        up = [name for name in self.stage.running if name not in self.down]
        if kind == "service" and up:
            name = self.dice.choice(up)
            self.stage.kill(name)
            self.down[name] = time.monotonic() + self.dice.random() * _DOWN_S
        elif kind == "broker":
            self._strike_broker()
        elif self.server is not None:
            cut_connections(self.server)
        self.done[kind] += 1

    def _strike_broker(self) -> None:
        """Of three nodes any; the one that is alone for a moment only."""
        if isinstance(self.brokers, Cluster):
            node = self.dice.choice(list(self.brokers.nodes))
            self.brokers.kill(node)
            time.sleep(self.dice.random() * _DOWN_S)
            self.brokers.start(node)
        else:
            self.brokers.kill()
            time.sleep(self.dice.random())
            self.brokers.start()

    def raise_dead(self, *, everybody: bool = False) -> None:
        for name, until in list(self.down.items()):
            if everybody or time.monotonic() > until:
                del self.down[name]
                self.stage.start(name)


def cut_connections(server: Postgres) -> None:
    with closing(open_database(server.url)) as database, database.transaction() as sql:
        sql.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where backend_type = 'client backend' and pid <> pg_backend_pid()"
        )


def place(database: OwnDatabase | None, url: str, customers: Customers, count: int) -> OwnDatabase:
    """Whatever the database does, the customers come again with other orders."""
    database = database or open_database(url)
    customers.act(database, count)
    return database


def play(killer: Killer, customers: Customers, rate: float, seconds: float, say: Progress) -> None:
    began = struck = told = time.monotonic()
    url, database = killer.stage.urls["orders"], None
    while time.monotonic() - began < seconds:
        time.sleep(_TICK_S)
        due = int((time.monotonic() - began) * rate) - customers.placed
        try:
            database = place(database, url, customers, max(due, 0))
        except Exception as error:
            say(f"customers: {type(error).__name__}")
            database = None
        killer.raise_dead()
        if time.monotonic() - struck > _BETWEEN_S:
            killer.strike()
            struck = time.monotonic()
            if struck - told > _TELLING_S:
                say(f"{customers.placed:,} orders placed, killed {dict(killer.done)}")
                told = struck
    killer.raise_dead(everybody=True)
    if database is not None:
        database.close()


def run(
    seconds: float,
    rate: float,
    seed: int,
    faults: tuple[Fault, ...],
    *,
    postgres: bool,
    nodes: int = 1,
) -> list[str]:
    """What the checker finds at the end."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="saga-")))
        brokers: Broker | Cluster = (
            Broker(folder / "data") if nodes == 1 else Cluster(folder / "nodes", nodes)
        )
        stack.enter_context(brokers)
        server = stack.enter_context(Postgres()) if postgres else None
        urls = None if server is None else schemas(server)
        kafka = {"bootstrap.servers": brokers.bootstrap_servers}
        say = stack.enter_context(Progress(folder))
        stage = Stage(folder / "saga", kafka, urls=urls, faults=faults)
        stage.prepare(stock_for(int(seconds * rate)))
        killer = Killer(stage, brokers, server, random.Random(seed))
        customers = Customers(seed)
        with started(stage):
            play(killer, customers, rate, seconds, say)
            say("everything is up again; waiting until the orders have ended")
            # A planted fault leaves orders that never move; on a busy machine others may seem to.
            found = stage.settle(stuck_s=_STUCK_S if faults else _PATIENCE_S)
        ends = dict(read_counts(stage.urls)["orders"])
        print(f"seed {seed}: killed {dict(killer.done)}; orders {ends}", flush=True)
        return found


@contextmanager
def started(stage: Stage) -> Iterator[None]:
    stage.start()
    try:
        yield
    finally:
        stage.stop()


def schemas(server: Postgres) -> Mapping[str, str]:
    with closing(open_database(server.url)) as database, database.transaction() as sql:
        for name in SERVICES:
            sql.execute(f"create schema {name}")
    return {name: f"{server.url}?options=-csearch_path%3D{name}" for name in SERVICES}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.saga_kill")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--rate", type=float, default=3000.0, help="orders a minute")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 16))
    parser.add_argument("--nodes", type=int, default=1, help="brokers")
    parser.add_argument("--postgres", action="store_true", help="databases in PostgreSQL")
    parser.add_argument("--fault", choices=FAULTS, action="append", default=[])
    options = parser.parse_args()
    faults = tuple(options.fault)
    rate = options.rate / 60
    parts = {"postgres": options.postgres, "nodes": options.nodes}
    found = run(options.seconds, rate, options.seed, faults, **parts)
    for line in found[:10]:
        print(f"  {line}")
    print(f"{len(found)} things are wrong" if found else "all books agree")
    return int(bool(found) != bool(faults))


if __name__ == "__main__":
    sys.exit(main())
