"""`penstock catalog`: what is typed, and what is printed."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.argument import cluster_of, quiet_app
from penstock.cli.extra import need_sql
from penstock.cli.failure import UsageFailure
from penstock.cli.output import note, print_line

app = quiet_app("The cluster's topics, groups and offsets as tables of a database.")


@app.callback()
def catalog() -> None:
    """A group, so that `sync` is named."""


@app.command("sync")
def sync_command(
    ctx: typer.Context,
    database: Annotated[
        str,
        typer.Option(
            "--database",
            "-d",
            metavar="URL",
            help="sqlite:///FILE or postgresql://USER@HOST/NAME.",
        ),
    ] = "sqlite:///penstock-catalog.db",
    once: Annotated[bool, typer.Option("--once", help="Bring it up to date, and end.")] = False,
    interval: Annotated[
        float,
        typer.Option(
            "--interval", "-i", metavar="SECONDS", help="Between two looks at the metadata."
        ),
    ] = 5.0,
) -> None:
    """Keep tables of a database like the cluster, until Ctrl-C.

    Topic, ConsumerGroup and PartitionAssignment, and beside them Broker, Replica, TopicSetting,
    TopicOwner, GroupMember, PartitionLag and Sla. Commits arrive within a second or two; a run
    that was ended goes on where it stood.

    \b
    penstock catalog sync --database postgresql://me@db/catalog
    penstock catalog sync --once
    sqlite3 penstock-catalog.db 'SELECT * FROM Topic'
    """
    if not interval > 0:
        raise UsageFailure("--interval takes a number above 0")
    need_sql("sqlalchemy", "psycopg")
    from penstock.cli.catalog.store import CatalogStore
    from penstock.cli.catalog.sync import CatalogSync

    store = CatalogStore(database)
    try:
        sync = CatalogSync(cluster_of(ctx), store, interval, lambda text: note(f"penstock: {text}"))
        sync.run(once=once)
        print_line(sync.summary())
    finally:
        store.close()
