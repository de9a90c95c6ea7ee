"""`penstock sql`: what is typed, and what is printed."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.argument import cluster_of
from penstock.cli.extra import need_sql
from penstock.cli.failure import UsageFailure
from penstock.cli.sql_output import RowFormat, print_rows


def sql(
    ctx: typer.Context,
    statement: Annotated[
        str, typer.Argument(metavar="STATEMENT", show_default=False, help="A SELECT.")
    ],
    form: Annotated[
        RowFormat, typer.Option("--format", metavar="table|json|csv", help="How rows are printed.")
    ] = RowFormat.table,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object per line, as --format json.")
    ] = False,
    late: Annotated[
        float,
        typer.Option(
            "--late",
            metavar="SECONDS",
            help="Where time has an end: how much later a record may stand in the log than "
            "others with its time.",
        ),
    ] = 600.0,
) -> None:
    """Ask the live cluster in SQL: the tables of the catalog, and the records of topics.

    A topic is a table with the columns partition, offset, timestamp, key, value, headers,
    key_bytes and value_bytes. Bounds on partition, offset and timestamp are used to read less; a
    LIMIT stops the reading. topics."Name" is a topic even if a table of the catalog has its name.

    \b
    penstock sql 'SELECT * FROM PartitionLag ORDER BY lag_seconds DESC LIMIT 10'
    penstock sql "SELECT key, value->>'$.amount' AS amount FROM payments
      WHERE timestamp > now() - INTERVAL 1 HOUR AND value->>'$.country' = 'CH'"
    """
    if not 0 <= late < 1e9:
        raise UsageFailure("--late takes seconds, 0 or more")
    need_sql("duckdb", "pyarrow", "pytz")
    from penstock.cli.query.engine import SqlEngine

    with SqlEngine(cluster_of(ctx), int(late * 1000)) as engine:
        answer = engine.ask(statement)
        print_rows(answer.columns, answer.rows, RowFormat.json if as_json else form)
