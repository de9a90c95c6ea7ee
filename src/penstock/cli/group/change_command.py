"""`penstock groups reset`, `undo`, `seed` and `check`: what is typed, and what is printed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.argument import Json, cluster_of
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.group.option import GroupName
from penstock.cli.operator.option import DryRun, Yes
from penstock.cli.output import print_json, print_line, print_table, quoted, show_time

if TYPE_CHECKING:
    from penstock.cli.group.reader import ClusterReader
    from penstock.cli.group.reset import Plan
    from penstock.cli.operator.link import Link

To = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="PLACE",
        help="beginning, end, OFFSET, -N (the last N), -15m (s, m, h, d ago), ISO time, "
        "@MILLISECONDS.",
    ),
]
Shift = Annotated[
    int | None,
    typer.Option("--shift", metavar="N", help="Forth by N records; back where N is negative."),
]
Topics = Annotated[
    list[str] | None,
    typer.Option(
        "--topic", "-t", metavar="TOPIC[:N,...]", help="Only these topics, or partitions of them."
    ),
]
StopMembers = Annotated[
    bool,
    typer.Option(
        "--stop-members",
        help="Tell members to leave; they join again by themselves, at the new offsets.",
    ),
]


def _link(ctx: typer.Context) -> Link:
    from penstock.cli.operator.link import Link

    return Link(cluster_of(ctx))


def reset(
    ctx: typer.Context,
    name: GroupName,
    to: To = None,
    shift: Shift = None,
    topics: Topics = None,
    stop_members: StopMembers = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Move a group's offsets. Shows first what each partition would skip or read again, in records
    and in time. Refused while the group has members. `groups undo` takes it back."""
    from penstock.cli.group.planning import plan_reset
    from penstock.cli.group.reader import ClusterReader

    if (to is None) == (shift is None):
        raise UsageFailure("`groups reset` takes either --to or --shift")
    with ClusterReader(_link(ctx)) as reader:
        group = reader.named(name)
        steps = plan_reset(reader, group, to, shift, topics or ())
        why = f"reset --to {to}" if to is not None else f"reset --shift {shift}"
        members = len(group.members)
        _carry_out(reader, name, steps, members, why, (stop_members, dry_run, yes, as_json))


def undo(
    ctx: typer.Context,
    name: GroupName,
    stop_members: StopMembers = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Put a group's offsets back where they were before the last reset or seed."""
    from penstock.cli.group.planning import plan_undo
    from penstock.cli.group.reader import ClusterReader
    from penstock.cli.group.undo import read_former

    link = _link(ctx)
    former = read_former(link, name)
    if not former:
        raise Failure(f"nothing to undo: no offsets of group {name} were changed by `penstock`")
    with ClusterReader(link) as reader:
        group = reader.find(name)
        steps = plan_undo(reader, name, group, former[-1])
        if not as_json:
            print_line(f"undoes `{former[-1].why}` of {show_time(former[-1].changed_ms)}")
        members = 0 if group is None else len(group.members)
        _carry_out(reader, name, steps, members, None, (stop_members, dry_run, yes, as_json))


def seed(
    ctx: typer.Context,
    name: GroupName,
    topics: Annotated[
        list[str],
        typer.Argument(metavar="TOPIC...", show_default=False, help="Topics it will read."),
    ],
    to: To = "end",
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Give a group offsets before it is deployed, so that it begins there and not where
    `auto.offset.reset` says. Offsets that it has stay."""
    from penstock.cli.group.planning import plan_seed
    from penstock.cli.group.reader import ClusterReader

    with ClusterReader(_link(ctx)) as reader:
        group = reader.find(name)
        steps = plan_seed(reader, group, topics, to or "end")
        members = 0 if group is None else len(group.members)
        _carry_out(reader, name, steps, members, f"seed --to {to}", (False, dry_run, yes, as_json))


def _carry_out(
    reader: ClusterReader,
    name: str,
    steps: Plan,
    members: int,
    why: str | None,
    asked: tuple[bool, bool, bool, bool],
) -> None:
    """Show, ask, do. Without a reason it is an undo, which is not undone."""
    from penstock.cli.group.refusal import members_alive
    from penstock.cli.group.reset import changes

    stop_members, dry_run, yes, as_json = asked
    now_ms = int(time.time() * 1000)
    moved = changes(steps)
    if not as_json:
        _show(steps, now_ms)
    if dry_run or not moved:
        if as_json:
            _print_document(name, steps, now_ms, done=False)
        else:
            print_line("nothing was changed" if dry_run else "nothing is to be changed")
        return
    if members and not stop_members:
        raise members_alive(name, members)
    _confirm(name, members, moved, yes)
    _change(reader, name, moved, why, stop_members)
    if as_json:
        _print_document(name, steps, now_ms, done=True)
    else:
        done = f"group {name}: {len(moved)} offset{'s' if len(moved) > 1 else ''} changed"
        print_line(done + (f"; `penstock groups undo {quoted(name)}` takes it back" if why else ""))


def _show(steps: Plan, now_ms: int) -> None:
    from penstock.cli.group.view import PLAN_COLUMNS, plan_rows, plan_summary

    print_table(PLAN_COLUMNS, plan_rows(steps, now_ms))
    print_line(f"in all: {plan_summary(steps)}")


def _print_document(name: str, steps: Plan, now_ms: int, *, done: bool) -> None:
    from penstock.cli.group.view import plan_documents

    print_json({"group": name, "changed": done, "partitions": plan_documents(steps, now_ms)})


def _confirm(name: str, members: int, moved: Plan, yes: bool) -> None:
    from penstock.cli.operator.confirm import confirm
    from penstock.cli.output import plural

    stop = f"tell {plural(members, 'member')} to leave, and " if members else ""
    confirm(f"{stop}change {plural(len(moved), 'offset')} of group {name}?", yes=yes)


def _change(
    reader: ClusterReader, name: str, moved: Plan, why: str | None, stop_members: bool
) -> None:
    """Former offsets are kept before anything changes, so that no change is without a way back."""
    from penstock.cli.group.change import set_offsets
    from penstock.cli.group.refusal import MembersAlive
    from penstock.cli.group.undo import FormerOffsets, forget_last, remember

    if why is not None:
        former = {each.place: each.former for each in moved}
        remember(reader.link, name, FormerOffsets(int(time.time() * 1000), why, former))
    try:
        wanted = {each.place: each.target for each in moved}
        set_offsets(reader, name, wanted, stop_members=stop_members)
    except MembersAlive:
        if why is not None:
            forget_last(reader.link, name)
        raise
    if why is None:
        forget_last(reader.link, name)


def check(
    ctx: typer.Context,
    name: GroupName,
    topics: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TOPIC...",
            show_default=False,
            help="Topics it will read; without any, those it has offsets of.",
        ),
    ] = None,
    members: Annotated[
        int | None, typer.Option("--members", metavar="N", min=1, help="So many will be started.")
    ] = None,
    reset_policy: Annotated[
        str,
        typer.Option(
            "--reset", metavar="POLICY", help="Their auto.offset.reset: earliest, latest, none."
        ),
    ] = "latest",
    as_json: Json = False,
) -> None:
    """Say what will happen when a group's consumers start: where they begin, what
    `auto.offset.reset` would do, whether some would have nothing to do. Exits with 1 if something
    is amiss."""
    findings = _findings(ctx, name, topics or [], members, reset_policy)
    if as_json:
        print_json([{"problem": each.is_problem, "text": each.text} for each in findings])
    else:
        for each in findings:
            print_line(f"{'problem' if each.is_problem else 'ok':9}{each.text}")
    if any(each.is_problem for each in findings):
        raise typer.Exit(1)


def _findings(
    ctx: typer.Context, name: str, topics: list[str], members: int | None, policy: str
) -> list[Any]:
    from penstock.cli.group import check as rules
    from penstock.cli.group.planning import rows_of_topics
    from penstock.cli.group.reader import ClusterReader

    if policy not in list(rules.Reset):
        raise UsageFailure(f"--reset takes earliest, latest or none, not {policy!r}")
    with ClusterReader(_link(ctx)) as reader:
        group = reader.find(name)
        if group is not None and group.is_share:
            raise Failure(
                f"{name} is a share group: it begins where its own setting "
                "share.auto.offset.reset says, and any number of members may work on a partition; "
                "`penstock groups describe` shows where it is"
            )
        rows = rows_of_topics(reader, group, topics)
        wanted = topics or sorted({each.place[0] for each in rows})
        if not wanted:
            raise Failure(f"group {name} has no offsets; name the topics that it will read")
        planned = rules.Deployment(
            {each: reader.topics.get(each) or None for each in wanted},
            members,
            rules.Reset(policy),
        )
        return rules.check(group, rows, planned, int(time.time() * 1000))
