"""`penstock saga`: what is typed, and what is printed. The saga itself is in `penstock.saga`."""

from __future__ import annotations

import random
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.argument import Json, cluster_of, quiet_app
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.output import note, plural, print_json, print_line
from penstock.cli.termination import stop_signal

if TYPE_CHECKING:
    from penstock.cli.cluster import Cluster
    from penstock.saga.stage import Stage

app = quiet_app("An order saga of five services: demo, service, check, funnel.")

_TICK_S = 0.1
_SHOWN = 10
_VIEW_S = 2.0

Directory = Annotated[
    Path, typer.Option("--dir", metavar="FOLDER", help="Where the databases of the services are.")
]
_DIRECTORY = Path("penstock-saga")


@app.command("demo")
def demo_command(
    ctx: typer.Context,
    orders: Annotated[
        int, typer.Option("--orders", "-n", metavar="N", min=1, help="Orders to place.")
    ] = 1000,
    rate: Annotated[float, typer.Option(metavar="N", min=1.0, help="Orders a minute.")] = 5000.0,
    kill: Annotated[
        bool, typer.Option("--kill", help="Kill a service every second meanwhile.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="The same orders every time.")
    ] = None,
    directory: Directory = _DIRECTORY,
) -> None:
    """Run the five services, place orders, wait until all have come to an end, and check it."""
    from penstock.saga.customer import stock_for
    from penstock.saga.stage import Stage

    # One that nobody answers would be waited for by every service.
    cluster_of(ctx).metadata()
    stage = Stage(directory, _kafka(ctx))
    with cluster_of(ctx).explaining():
        stage.prepare(stock_for(orders))
    began = time.monotonic()
    dice = random.Random(seed)
    with stop_signal() as stopping:
        try:
            stage.start()
            _place(stage, orders, rate / 60, dice.randrange(1 << 20), kill, stopping)
            view = _View(stage)

            def look() -> None:
                if stopping.is_set():
                    raise KeyboardInterrupt
                view.show()

            faults = stage.settle(look)
        finally:
            stage.stop()
    view.show(last=True)
    print_line(f"{plural(orders, 'order')} in {time.monotonic() - began:.0f} s")
    _say(faults)


def _place(stage: Stage, orders: int, rate: float, seed: int, kill: bool, stopping: Any) -> None:
    from penstock.client.database import open_database
    from penstock.saga.customer import Customers

    customers, view, dice = Customers(seed), _View(stage), random.Random(seed)
    began, killed_at = time.monotonic(), time.monotonic()
    with closing(open_database(stage.urls["orders"])) as database:
        while customers.placed < orders and not stopping.wait(_TICK_S):
            due = min(orders, int((time.monotonic() - began) * rate))
            if due > customers.placed:
                customers.act(database, due - customers.placed)
            if kill and time.monotonic() - killed_at > 1.0:
                name = dice.choice(stage.running)
                stage.kill(name)
                stage.start(name)
                killed_at = time.monotonic()
            view.show()


class _View:
    """Orders by state, a line every two seconds."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._next = time.monotonic() + _VIEW_S

    def show(self, *, last: bool = False) -> None:
        from penstock.saga.books import oldest_open_ms, read_counts

        if not last and time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _VIEW_S
        counts = read_counts(self._stage.urls)
        states = ", ".join(f"{state} {count:,}" for state, count in counts["orders"].items())
        refunds, told = counts["payment"]["refunded"], counts["notification"].total()
        line = f"orders: {states or 'none'}; refunded {refunds:,}; customers told {told:,}"
        oldest_ms = oldest_open_ms(self._stage.urls["orders"])
        if oldest_ms is not None:
            line += f"; slowest {time.time() - oldest_ms / 1000:.1f} s"
        line += f"; events to send {self._stage.unsent():,}"
        if last:
            print_line(line)
        else:
            note(line)


@app.command("service")
def service_command(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="SERVICE", help="Such as inventory.")],
    database: Annotated[
        str,
        typer.Option(
            "--database",
            "-d",
            metavar="URL",
            envvar="PENSTOCK_SAGA_DATABASE",
            show_default=False,
            help="Its database.",
        ),
    ],
    faults: Annotated[
        list[str] | None,
        typer.Option("--fault", metavar="FAULT", help="Plant a fault, for the checker to find."),
    ] = None,
) -> None:
    """Run one service in the foreground until Ctrl-C or SIGTERM."""
    from penstock.saga.books import SERVICES
    from penstock.saga.reaction import FAULTS
    from penstock.saga.service import Service
    from penstock.telemetry.log import configure

    if name not in SERVICES:
        raise UsageFailure(f"no such service: {name}; there are {', '.join(SERVICES)}")
    planted = [each for each in FAULTS if each in (faults or ())]
    if len(planted) != len(faults or ()):
        raise UsageFailure(f"faults that can be planted are {', '.join(FAULTS)}")
    configure(level="warning")
    Service(name, database, _kafka(ctx), planted).run()


@app.command("check")
def check_command(
    ctx: typer.Context, directory: Directory = _DIRECTORY, as_json: Json = False
) -> None:
    """Compare the books of all services with each other and with the topics."""
    from penstock.saga.books import read_books
    from penstock.saga.checker import check
    from penstock.saga.stage import Stage

    if not (directory / "orders.db").exists():
        raise Failure(f"no saga ran in {directory}; `penstock saga demo` runs one")
    _need_topics(cluster_of(ctx))
    books = read_books(Stage(directory, {}).urls, _kafka(ctx))
    faults = check(books)
    if as_json:
        print_json({"orders": len(books.states["orders"]), "faults": faults})
        if faults:
            raise typer.Exit(1)
        return
    print_line(f"{plural(len(books.states['orders']), 'order')} in the books")
    _say(faults)


def _need_topics(cluster: Cluster) -> None:
    from penstock.saga.tables import TOPICS

    there = cluster.metadata().topics
    missing = [each for each in TOPICS if each not in there]
    if missing:
        raise Failure(
            f"no saga ran at {cluster.bootstrap_servers}: there is no topic {missing[0]}; "
            "name the cluster of the demo with -b"
        )


@app.command("funnel")
def funnel_command(
    directory: Annotated[
        Path, typer.Option("--dir", metavar="FOLDER", help="Where the pipeline keeps its table.")
    ] = Path("penstock-pipelines"),
    as_json: Json = False,
) -> None:
    """How far orders get, minute by minute, and which are stuck, as `saga-funnel` has it."""
    from dataclasses import asdict

    from penstock.cli.saga_funnel import lines, read_found

    found = read_found(directory / "saga-funnel.db")
    if as_json:
        print_json(asdict(found))
        return
    for line in lines(found):
        print_line(line)


def _say(faults: list[str]) -> None:
    if not faults:
        print_line("every order has come to an end, and all books agree")
        return
    for line in faults[:_SHOWN]:
        print_line(f"  {line}")
    raise Failure(f"{len(faults)} things are wrong")


def _kafka(ctx: typer.Context) -> dict[str, Any]:
    cluster = cluster_of(ctx)
    return {"bootstrap.servers": cluster.bootstrap_servers, **cluster.given_settings}
