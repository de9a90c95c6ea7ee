"""`penstock outbox`: what is typed, and what is printed. The relay itself is the client's."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.argument import (
    Json,
    MetricsHost,
    MetricsPort,
    ProgressJson,
    cluster_of,
    quiet_app,
)
from penstock.cli.failure import Failure
from penstock.cli.help import PlainCommand
from penstock.cli.output import note, plural, print_json, print_line, show_age
from penstock.cli.termination import stop_signal
from penstock.cli.value import encode_json

if TYPE_CHECKING:
    from penstock.client.database import OwnDatabase
    from penstock.client.outbox.relay import Relay

app = quiet_app("Events from a database's outbox: create, relay, status.")

_LOOK_S = 1.0
_DRAINED_S = 0.05

Database = Annotated[
    str,
    typer.Option(
        "--database",
        "-d",
        metavar="URL",
        envvar="PENSTOCK_OUTBOX_DATABASE",
        show_default=False,
        help="sqlite:///path or postgresql://user@host/name.",
    ),
]


@app.command("create", cls=PlainCommand)
def create_command(
    database: Database,
    shards: Annotated[
        int,
        typer.Option(metavar="N", min=1, max=256, help="How many relays can share the work."),
    ] = 1,
    print_only: Annotated[
        bool, typer.Option("--print", help="Print the SQL instead of executing it.")
    ] = False,
) -> None:
    """Make the tables of an outbox, if they are not there."""
    from penstock.client.outbox import table_sql

    with _opened(database) as own:
        statements = table_sql(own.dialect, shards)
        if not print_only:
            with own.transaction() as sql:
                for each in statements:
                    sql.execute(each)
    if print_only:
        print_line(";\n".join(statements) + ";")
    else:
        print_line("created penstock_outbox, penstock_outbox_shard")


@app.command("relay")
def relay_command(
    ctx: typer.Context,
    database: Database,
    once: Annotated[bool, typer.Option("--once", help="End when the outbox is empty.")] = False,
    batch: Annotated[
        int, typer.Option(metavar="N", min=1, help="Events in a transaction, at most.")
    ] = 1000,
    poll_ms: Annotated[
        int, typer.Option(metavar="MS", min=1, help="How often to look for events.")
    ] = 50,
    replication: Annotated[
        bool,
        typer.Option(
            "--replication", help="Be told of events by PostgreSQL's logical replication."
        ),
    ] = False,
    metrics_port: MetricsPort = None,
    metrics_host: MetricsHost = "127.0.0.1",
    as_json: ProgressJson = False,
) -> None:
    """Send the events of an outbox, in the foreground.

    Several relays may run for one outbox: they share its shards, or stand by. Ctrl-C or SIGTERM
    ends a relay between two batches.
    """
    from penstock.client.outbox.metric import RelayMetrics
    from penstock.client.outbox.relay import Relay
    from penstock.telemetry.log import configure

    cluster = cluster_of(ctx)
    configure(level="warning")
    relay = Relay(
        database,
        cluster.bootstrap_servers,
        kafka=cluster.given_settings,
        batch_events_max=batch,
        poll_s=poll_ms / 1000,
        replication=replication,
    )
    with _explaining(), stop_signal() as stopping:
        # Before anything is begun that would have to be ended.
        server = (
            None if metrics_port is None else RelayMetrics(relay).serve(metrics_port, metrics_host)
        )
        try:
            with relay:
                _watch(relay, stopping, once=once, as_json=as_json)
        finally:
            if server is not None:
                server.shutdown()
    sent = relay.progress().sent
    if not as_json:
        note(f"sent {plural(sent, 'event')}")


def _watch(relay: Relay, stopping: threading.Event, *, once: bool, as_json: bool) -> None:
    shown_at, shown = time.monotonic(), 0
    while not stopping.wait(_DRAINED_S if once else _LOOK_S):
        progress = relay.progress()
        if time.monotonic() - shown_at >= _LOOK_S:
            rate = (progress.sent - shown) / (time.monotonic() - shown_at)
            if as_json:
                print_line(encode_json(asdict(progress) | {"rate": round(rate, 1)}).decode())
            elif progress.sent != shown:
                note(
                    f"sent {progress.sent:,} events, {rate:,.0f}/s, p99"
                    f" {progress.latency_ms_p99:.0f} ms"
                )
            shown_at, shown = time.monotonic(), progress.sent
        if once and relay.backlog().waiting == 0:
            return


@app.command("status", cls=PlainCommand)
def status_command(database: Database, as_json: Json = False) -> None:
    """Show what waits in an outbox, and what can never be sent."""
    from penstock.client.outbox.shard import count_shards, read_backlog, read_set_aside

    with _opened(database, make=False) as own:
        count_shards(own)
        backlog, aside = read_backlog(own), read_set_aside(own)
    if as_json:
        print_json(asdict(backlog) | {"refused": [asdict(each) for each in aside]})
        return
    now_ms = time.time_ns() // 1_000_000
    oldest = f", the oldest {show_age(backlog.oldest_ms, now_ms)}" if backlog.oldest_ms else ""
    print_line(f"{backlog.waiting:,} waiting{oldest}; {backlog.set_aside:,} set aside")
    for each in aside:
        print_line(f"  {each.id}  {each.topic}  event {each.event_id}: {each.error}")


@contextmanager
def _opened(url: str, *, make: bool = True) -> Iterator[OwnDatabase]:
    from penstock.client.database import open_database

    with _explaining(), closing(open_database(url, make=make)) as own:
        try:
            yield own
        except own.errors as error:
            raise Failure(str(error).strip()) from error


@contextmanager
def _explaining() -> Iterator[None]:
    from penstock.client.error import ClientError

    try:
        yield
    except ClientError as error:
        raise Failure(str(error)) from error
    except ImportError as error:
        raise Failure(
            f"{error.name} is not installed; PostgreSQL needs the extra `postgresql`, "
            "pip install 'penstock[postgresql]'"
        ) from error
    except Exception as error:
        # psycopg's own, which must not be imported to be named here.
        if type(error).__module__.partition(".")[0] not in ("psycopg", "sqlite3"):
            raise
        raise Failure(str(error).strip().splitlines()[0]) from error
