"""A balance carried out, and taken back: remembered first, moved by the cluster, then elections."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from penstock.cli.balance.history import HISTORY_TOPIC, History
from penstock.cli.balance.planner import BalancePlan, BrokerLoad, plan_balance
from penstock.cli.balance.undoing import plan_undo
from penstock.cli.failure import Failure
from penstock.cli.operator.election import elect_leaders
from penstock.cli.operator.link import Link
from penstock.cli.operator.move_run import clean_throttles, move_document, show_plan
from penstock.cli.operator.mover import Mover
from penstock.cli.operator.plan import Move
from penstock.cli.operator.reassignment import moves_under_way
from penstock.cli.operator.state import ClusterState, TopicPartition, name_some
from penstock.cli.output import human_bytes, note, plural, print_line, print_table, show_time

FILL_MAX: Final = 0.9
"""As full as a disk may become by a move."""


def plan_for(mover: Mover, within: float) -> BalancePlan:
    """Without the topic that a run itself makes: it would be planned for by the next one."""
    room = {
        broker: max(int(disk.total_bytes * FILL_MAX) - (disk.total_bytes - disk.usable_bytes), 0)
        for broker, disk in mover.disks.items()
        if disk.total_bytes is not None and disk.usable_bytes is not None
    }
    state = mover.state
    others = {at: each for at, each in state.partitions.items() if at.topic != HISTORY_TOPIC}
    return plan_balance(replace(state, partitions=others), within, room)


def plan_document(state: ClusterState, plan: BalancePlan) -> dict[str, Any]:
    return {
        "moves": [move_document(state, each) for each in plan.moves],
        "elections": [str(each) for each in plan.elections],
        "before": [each._asdict() for each in plan.before],
        "after": [each._asdict() for each in plan.after],
        "left_alone": plan.frozen,
    }


def show_loads(plan: BalancePlan) -> None:
    columns = ("broker", "rack", "bytes", "then", "replicas", "then", "leaders", "then")
    rows = [_row(was, then) for was, then in zip(plan.before, plan.after, strict=True)]
    print_table(columns, rows)
    if plan.frozen:
        print_line(f"{plural(plan.frozen, 'partition')} left alone: being moved, or not in sync")
    if plan.elections:
        print_line(f"{plural(len(plan.elections), 'leader')} to elect, which copies nothing")


def _row(was: BrokerLoad, then: BrokerLoad) -> tuple[str | int | None, ...]:
    sizes = human_bytes(was.bytes), human_bytes(then.bytes)
    return (was.broker, was.rack, *sizes, was.replicas, then.replicas, was.leaders, then.leaders)


def show_balance(state: ClusterState, plan: BalancePlan) -> None:
    show_loads(plan)
    if plan.moves:
        show_plan(state, plan.moves, None)
    elif not plan.elections:
        print_line("nothing to move: brokers are even")


def run_balance(mover: Mover, plan: BalancePlan, *, yes: bool, wait: bool, as_json: bool) -> None:
    history = History(mover.link)

    def remember() -> Sequence[Move]:
        if plan.moves:
            history.begin(int(time.time() * 1000), plan.moves)
        return ()

    def finish() -> None:
        _elect(mover.link, [*plan.elections, *(each.place for each in plan.moves)])
        history.end()
        clean_throttles(mover.link)

    if as_json:
        mover.more = plan_document(mover.state, plan)
    else:
        show_loads(plan)
    under_way = moves_under_way(mover.state)
    mover.run(
        plan.moves, under_way, yes=yes, dry_run=False, wait=wait, before=remember, after=finish
    )


def undo_balance(mover: Mover, *, yes: bool, dry_run: bool, wait: bool, as_json: bool) -> None:
    history = History(mover.link)
    runs = history.read()
    if not runs:
        raise Failure("nothing to undo: no balance of this cluster was run by `penstock`")
    last = runs[-1]
    undoing = plan_undo(mover.state, last.moves)
    if undoing.left:
        note(f"left alone, because it was changed since then: {name_some(undoing.left)}")
    if not as_json:
        print_line(
            f"undoes the balance of {show_time(last.began_ms)}, "
            f"{plural(len(last.moves), 'partition')}"
        )

    def finish() -> None:
        _elect(mover.link, [each.place for each in undoing.moves])
        history.forget_last()
        clean_throttles(mover.link)

    mover.run(undoing.moves, [], yes=yes, dry_run=dry_run, wait=wait, after=finish)


def _elect(link: Link, places: Sequence[TopicPartition]) -> None:
    """A topic may be gone, or its preferred leader down: the rest goes on."""
    if not places:
        return
    done = elect_leaders(link, places, unclean=False)
    for place, said in done.failed.items():
        note(f"no leader elected for {place}: {said}")
