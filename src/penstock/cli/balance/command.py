"""`penstock balance`: what is typed, and what is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.argument import Json, link_of, quiet_app
from penstock.cli.operator.broker_command import DEFAULT_THROTTLE, Throttle
from penstock.cli.operator.option import DryRun, Yes
from penstock.cli.output import print_json

if TYPE_CHECKING:
    from penstock.cli.operator.mover import Mover

app = quiet_app("Leaders and bytes evenly over brokers and racks: plan, run, undo.")

Within = Annotated[
    float,
    typer.Option(
        "--within",
        metavar="PERCENT",
        min=1,
        max=100,
        help="As far from the mean as a broker may be.",
    ),
]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Return when the moves have begun.")]


def _mover(ctx: typer.Context, throttle: str, *, as_json: bool) -> Mover:
    from penstock.cli.operator.mover import Mover
    from penstock.cli.operator.throttle import parse_rate

    rate = parse_rate(throttle)
    return Mover(link_of(ctx), rate, as_json=as_json)


@app.command("plan")
def plan_command(ctx: typer.Context, within: Within = 10.0, as_json: Json = False) -> None:
    """Show which replicas would move, and what brokers have before and after."""
    from penstock.cli.balance.run import plan_document, plan_for, show_balance

    mover = _mover(ctx, "none", as_json=as_json)
    plan = plan_for(mover, within / 100)
    if as_json:
        print_json(plan_document(mover.state, plan))
    else:
        show_balance(mover.state, plan)


@app.command("run")
def run_command(
    ctx: typer.Context,
    within: Within = 10.0,
    throttle: Throttle = DEFAULT_THROTTLE,
    no_wait: NoWait = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Show the plan, ask, and carry it out. A second call goes on where the first one stopped."""
    from penstock.cli.balance.run import plan_for, run_balance

    mover = _mover(ctx, throttle, as_json=as_json)
    plan = plan_for(mover, within / 100)
    run_balance(mover, plan, yes=yes, wait=not no_wait, as_json=as_json)


@app.command("undo")
def undo_command(
    ctx: typer.Context,
    throttle: Throttle = DEFAULT_THROTTLE,
    no_wait: NoWait = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Put the replicas of the last balance back where they were, also while it is under way."""
    from penstock.cli.balance.run import undo_balance

    mover = _mover(ctx, throttle, as_json=as_json)
    undo_balance(mover, yes=yes, dry_run=dry_run, wait=not no_wait, as_json=as_json)
