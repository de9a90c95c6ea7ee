"""`penstock metrics`: what is typed, and what is printed."""

from __future__ import annotations

import re
import sys
import time
from typing import Annotated

import typer

from penstock.cli.argument import quiet_app
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.help import PlainCommand
from penstock.cli.output import note

app = quiet_app("A broker's metrics: alarms for Prometheus, a dashboard for Grafana, a push.")

Address = Annotated[
    str,
    typer.Argument(
        metavar="HOST:PORT",
        show_default=False,
        help="Where a broker serves metrics (`penstock start --metrics`).",
    ),
]
Token = Annotated[
    str | None,
    typer.Option("--token", metavar="TEXT", envvar="PENSTOCK_METRICS_TOKEN", help="Its token."),
]


@app.command("rules", cls=PlainCommand)
def rules_command(address: Address, token: Token = None) -> None:
    """Print alarm rules for Prometheus, of the metrics that the broker declares."""
    from penstock.cli.monitoring.alarm import rules_text
    from penstock.cli.monitoring.family import declared, read_page

    names = [each.name for each in declared(read_page(address, token))]
    sys.stdout.write(rules_text(names))


@app.command("dashboard", cls=PlainCommand)
def dashboard_command(address: Address, token: Token = None) -> None:
    """Print a dashboard for Grafana, with a panel for every metric of the broker."""
    from penstock.cli.monitoring.dashboard import dashboard_text
    from penstock.cli.monitoring.family import declared, read_page

    sys.stdout.write(dashboard_text(declared(read_page(address, token))))


@app.command("push", cls=PlainCommand)
def push_command(
    address: Address,
    to: Annotated[
        str, typer.Option("--to", metavar="URL", help="Of the collector, such as http://otel:4318.")
    ],
    token: Token = None,
    interval: Annotated[
        float, typer.Option("--interval", "-i", metavar="SECONDS", help="Between two pushes.")
    ] = 15.0,
    header: Annotated[
        list[str] | None, typer.Option("--header", "-H", metavar="NAME=VALUE", help="To send.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Push once, and end.")] = False,
) -> None:
    """Push the broker's metrics to an OpenTelemetry collector (OTLP over HTTP), until Ctrl-C."""
    from penstock.cli.cluster import key_values
    from penstock.cli.interrupt import check_interrupt
    from penstock.cli.monitoring.family import read_page
    from penstock.cli.monitoring.otlp import export_request, push

    if not interval > 0:
        raise UsageFailure("--interval takes a number above 0")
    if not re.match(r"https?://[^/]", to):
        raise UsageFailure(f"--to takes a URL such as http://collector:4318, not {to!r}")
    headers = key_values(header or (), "--header")
    resource = {"service.name": "penstock", "service.instance.id": address}
    failed = False
    while True:
        try:
            push(to, export_request(read_page(address, token), time.time_ns(), resource), headers)
            if failed:
                note("penstock: metrics are pushed again")
            failed = False
        except Failure as failure:
            if once:
                raise
            if not failed:
                note(f"penstock: {failure}; trying again")
            failed = True
        if once:
            return
        check_interrupt()
        time.sleep(interval)
