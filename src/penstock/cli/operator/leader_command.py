"""`penstock leaders`: what is typed, and what is printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.argument import Json, cluster_of, quiet_app
from penstock.cli.completion import complete_topics
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.operator.option import Yes
from penstock.cli.output import plural, print_json, print_line

if TYPE_CHECKING:
    from penstock.cli.operator.state import TopicPartition

_NAMED_MAX = 10
"""Partitions of a topic; of more than that the number is said."""

app = quiet_app("Leaders of partitions: elect.")


@app.command("elect")
def elect_command(
    ctx: typer.Context,
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TOPIC[:PARTITION]",
            show_default=False,
            help="Topics or partitions.",
            autocompletion=complete_topics,
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every partition.")] = False,
    preferred: Annotated[
        bool,
        typer.Option("--preferred", help="The first of the replicas. This is done unless told."),
    ] = False,
    unclean: Annotated[
        bool,
        typer.Option(
            "--unclean",
            help="Where no replica in sync is left, one that is not: "
            "records it does not have are lost.",
        ),
    ] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Have leaders elected anew."""
    from penstock.cli.operator.confirm import confirm
    from penstock.cli.operator.election import elect_leaders
    from penstock.cli.operator.link import Link
    from penstock.cli.operator.place import find_partitions
    from penstock.cli.operator.reader import read_state

    if bool(places) == every:
        raise UsageFailure("give TOPIC[:PARTITION], or --all for every partition")
    if preferred and unclean:
        raise UsageFailure("--preferred or --unclean, not both")
    link = Link(cluster_of(ctx))
    chosen = None if every else find_partitions(read_state(link), places or ())
    if unclean:
        confirm("Records that the new leader does not have are lost. Go on?", yes=yes)
    done = elect_leaders(link, chosen, unclean=unclean)
    if as_json:
        print_json(
            {
                "elected": [str(each) for each in done.elected],
                "not_needed": [str(each) for each in done.not_needed],
                "failed": {str(place): said for place, said in done.failed.items()},
            }
        )
    else:
        for line in elected_lines(done.elected):
            print_line(line)
        if not done.elected and not done.failed:
            print_line("no election was needed")
    if done.failed:
        place, said = next(iter(done.failed.items()))
        more = len(done.failed) - 1
        others = f"; {plural(more, 'more partition')} failed likewise" if more else ""
        raise Failure(f"{place}: {said}{others}")


def elected_lines(places: Sequence[TopicPartition]) -> Iterator[str]:
    by_topic: dict[str, list[TopicPartition]] = {}
    for place in places:
        by_topic.setdefault(place.topic, []).append(place)
    for topic, some in by_topic.items():
        if len(some) > _NAMED_MAX:
            yield f"elected leaders of {plural(len(some), 'partition')} of {topic}"
        else:
            yield from (f"elected a leader of {place}" for place in some)
