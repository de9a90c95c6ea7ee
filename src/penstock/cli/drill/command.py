"""`penstock drill`: what is typed, and what is printed."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.argument import Json, quiet_app
from penstock.cli.failure import UsageFailure

app = quiet_app("Incidents as exercises, with real clients: lag.")


@app.command("lag")
def lag(
    seed: Annotated[
        int | None, typer.Option(metavar="N", show_default="another each time", help="Which one.")
    ] = None,
    cause: Annotated[
        str | None, typer.Option(metavar="NAME", help="This one, which you then know already.")
    ] = None,
    brokers: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", show_default="a cluster of its own", help="On this cluster."
        ),
    ] = None,
    nodes: Annotated[
        int, typer.Option(metavar="N", min=1, max=9, help="Of the cluster of its own.")
    ] = 3,
    calm: Annotated[str, typer.Option(metavar="DURATION", help="The quiet time before.")] = "30s",
    auto: Annotated[
        bool, typer.Option("--auto", help="Have it found and contained by the tools themselves.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Lag rises at 2 am, nobody has deployed anything: find out why, and contain it.

    Services that write and read run here, on a cluster of its own, and one thing goes wrong with
    them. You look with the other commands in another terminal. At the end it says how it went.

    \b
    penstock drill lag
    penstock drill lag --seed 7
    penstock drill lag --cause poison --auto
    """
    import random

    from penstock.cli.drill.incident import INCIDENTS
    from penstock.cli.drill.session import Session
    from penstock.cli.group.sla import parse_duration

    if cause is not None and cause not in INCIDENTS:
        raise UsageFailure(f"there is no {cause!r}; there are {', '.join(INCIDENTS)}")
    number = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    chosen = cause or random.Random(number).choice(sorted(INCIDENTS))
    session = Session(chosen, number, parse_duration(calm), auto=auto, as_json=as_json)
    code = session.run(brokers, nodes)
    if code:
        raise typer.Exit(code)
