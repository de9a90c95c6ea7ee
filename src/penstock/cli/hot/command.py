"""`penstock hot`: what is typed, and what is printed."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.argument import Json, link_of
from penstock.cli.completion import complete_topics
from penstock.cli.failure import UsageFailure
from penstock.cli.output import print_json


def hot(
    ctx: typer.Context,
    topic: Annotated[
        list[str] | None,
        typer.Option(
            "--topic",
            "-t",
            metavar="TOPIC",
            help="Only this topic.",
            autocompletion=complete_topics,
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="N", help="Between the two looks.")
    ] = 5.0,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metrics", metavar="HOST:PORT", help="A broker's metrics, which tell its clients."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show brokers, partitions, keys and clients that take more than their part, and the remedy.

    It looks twice, changes nothing, and proposes the cheapest remedy that helps: preferred leaders,
    a throttled move, the key.
    """
    from penstock.cli.hot.judge import find_spots
    from penstock.cli.hot.page import document, show
    from penstock.cli.hot.reader import read_facts

    if not seconds > 0:
        raise UsageFailure("--seconds takes a number above 0")
    facts = read_facts(link_of(ctx), seconds, topic or (), metrics or ())
    spots = find_spots(facts)
    if as_json:
        print_json(document(facts, spots))
    else:
        show(facts, spots)
