"""`penstock partitions`: what is typed, and what is printed."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from penstock.cli.argument import SHORT_MAX, Json, cluster_of, quiet_app
from penstock.cli.completion import complete_topics
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.operator.option import DryRun, Yes
from penstock.cli.output import plural, print_json, print_line, print_table

app = quiet_app("Partitions and their replicas: move, moves, cancel, move-dir.")

Places = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TOPIC[:PARTITION]",
        show_default=False,
        help="What to cancel.",
        autocompletion=complete_topics,
    ),
]


@app.command("move")
def move_command(
    ctx: typer.Context,
    place: Annotated[
        str,
        typer.Argument(
            metavar="TOPIC[:PARTITION]",
            show_default=False,
            help="A topic, or one of its partitions.",
            autocompletion=complete_topics,
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="ID,ID,...",
            show_default="all live brokers",
            help="Brokers: of a partition its replicas, the preferred leader first; "
            "of a topic those to spread it over.",
        ),
    ] = None,
    replicas: Annotated[
        int | None,
        typer.Option(
            "--replicas",
            "-r",
            metavar="N",
            min=1,
            max=SHORT_MAX,
            show_default="as many as now",
            help="How many replicas each partition of a topic gets.",
        ),
    ] = None,
    throttle: Annotated[
        str,
        typer.Option(
            metavar="RATE", help="Bytes a second between brokers, such as 50M.", show_default="none"
        ),
    ] = "none",
    wait: Annotated[
        bool, typer.Option("--wait", help="Return when all is moved and the throttle is gone.")
    ] = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Move replicas to other brokers, or change their number."""
    from penstock.cli.operator.link import Link
    from penstock.cli.operator.mover import Mover
    from penstock.cli.operator.throttle import parse_rate

    rate = parse_rate(throttle)
    if to is None and replicas is None:
        raise UsageFailure("nothing to move: give --to, --replicas, or both")
    mover = Mover(Link(cluster_of(ctx)), rate, as_json=as_json)
    moves = mover.plan(place, to, replicas)
    mover.run(moves, [], yes=yes, dry_run=dry_run, wait=wait)


@app.command("moves")
def moves_command(
    ctx: typer.Context,
    wait: Annotated[
        bool, typer.Option("--wait", help="Return when they have ended; remove their throttle.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the moves that are under way."""
    from penstock.cli.operator.link import Link
    from penstock.cli.operator.move_run import clean_throttles, move_document, wait_for_moves
    from penstock.cli.operator.reader import read_state
    from penstock.cli.operator.reassignment import moves_under_way
    from penstock.cli.operator.throttle import throttled_topics

    link = Link(cluster_of(ctx))
    state = read_state(link)
    moves = moves_under_way(state)
    if as_json:
        print_json([move_document(state, move) for move in moves])
    elif moves:
        rows = [
            (str(each.place), ",".join(map(str, each.before)), ",".join(map(str, each.after)))
            for each in moves
        ]
        print_table(("partition", "from", "to"), rows)
    else:
        print_line("nothing is being moved")
    if wait:
        wait_for_moves(link, [move.place for move in moves])
        removed = clean_throttles(link)
        if removed and not as_json:
            print_line(f"took the throttle off {', '.join(removed)}")
    elif not moves and not as_json:
        left = throttled_topics(link, {each.topic for each in state.partitions})
        if left:
            print_line(
                f"a throttle is left on {', '.join(left)}; `penstock partitions moves --wait` "
                "takes it away"
            )


@app.command("move-dir")
def move_dir_command(
    ctx: typer.Context,
    place: Annotated[
        str,
        typer.Argument(
            metavar="TOPIC:PARTITION",
            show_default=False,
            help="A partition.",
            autocompletion=complete_topics,
        ),
    ],
    broker: Annotated[
        int,
        typer.Option("--broker", metavar="ID", show_default=False, help="Whose replica it is."),
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="PATH",
            show_default=False,
            help="One of its log directories; the present one calls a move off.",
        ),
    ],
    wait: Annotated[bool, typer.Option("--wait", help="Return when it is there.")] = False,
    as_json: Json = False,
) -> None:
    """Move a replica to another directory of its broker."""
    from penstock.cli.operator.log_dir_move import begin_move, one_partition, wait_moved

    where = one_partition(place)
    cluster = cluster_of(ctx)
    begin_move(cluster, where, broker, to)
    if wait:
        wait_moved(cluster, where, broker, to)
    if as_json:
        print_json({"partition": str(where), "broker": broker, "to": to, "done": wait})
    else:
        print_line(f"{where} of broker {broker} {'is in' if wait else 'moves to'} {to}")


@app.command("cancel")
def cancel_command(
    ctx: typer.Context,
    places: Places = None,
    every: Annotated[bool, typer.Option("--all", help="Every move that is under way.")] = False,
    as_json: Json = False,
) -> None:
    """End moves; the replicas from before stay."""
    from penstock.cli.operator.link import Link
    from penstock.cli.operator.move_run import clean_throttles
    from penstock.cli.operator.place import find_partitions
    from penstock.cli.operator.reader import read_state
    from penstock.cli.operator.reassignment import cancel_moves, moves_under_way

    if bool(places) == every:
        raise UsageFailure("give TOPIC[:PARTITION], or --all for every move")
    link = Link(cluster_of(ctx))
    state = read_state(link)
    moving = [move.place for move in moves_under_way(state)]
    named = moving if every else find_partitions(state, places or ())
    chosen = [each for each in named if each in moving]
    if places and not chosen:
        raise Failure(
            f"{', '.join(places)} is not being moved; `penstock partitions moves` shows what is"
        )
    if chosen:
        cancel_moves(link, chosen)
    clean_throttles(link)
    document: dict[str, Any] = {"cancelled": [str(each) for each in chosen]}
    if as_json:
        print_json(document)
    else:
        print_line(f"cancelled {plural(len(chosen), 'move')}")
