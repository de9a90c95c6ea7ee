"""`penstock topics repartition`: what is typed, and what is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.argument import PARTITIONS_MAX, Json, cluster_of
from penstock.cli.completion import complete_topics
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.operator.option import Yes
from penstock.cli.output import plural, print_json, print_line, print_table

if TYPE_CHECKING:
    from penstock.cli.repartition.job import Job
    from penstock.cli.repartition.phase import Repartition

_SHOWN = 5
_COPIED = """\
copied {count} of {job.source} to {job.target}, keys by {job.partitioner}
next: stop the producers of {job.source}, then `penstock topics repartition {job.source} --switch`
until then this may be run again, which leaves less for the switch; --back ends it"""
_SWITCHED = """\
{job.source} is closed, and all of it is in {job.target}
now: start the producers on {job.target}
then each group: when it has read {job.source} to its end, stop it and start it on {job.target}
`penstock topics repartition {job.source}` shows who is ready; --check compares; --back goes back"""
_RETURNED = """\
{job.source} is open again, with {count} that came to {job.target}
now: start the producers on {job.source}
groups that read {job.target} read it to its end, then go on with {job.source}
`penstock topics delete {job.target}` when nobody needs it"""


def repartition(
    ctx: typer.Context,
    topic: Annotated[
        str,
        typer.Argument(
            metavar="TOPIC",
            show_default=False,
            help="The topic as it is.",
            autocompletion=complete_topics,
        ),
    ],
    partitions: Annotated[
        int | None,
        typer.Option(
            "--partitions",
            "-p",
            metavar="N",
            min=1,
            max=PARTITIONS_MAX,
            help="Copy it into a new topic with so many, or go on with that.",
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="NAME", show_default="TOPIC-N", help="The new topic."),
    ] = None,
    partitioner: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            show_default="as the keys tell",
            help="Of the producers: murmur2 (Java) or crc32 (librdkafka).",
        ),
    ] = None,
    switch: Annotated[
        bool, typer.Option("--switch", help="Close the old topic and copy its last records.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Compare both topics, record by record.")
    ] = False,
    back: Annotated[
        bool, typer.Option("--back", help="Go back to the old topic; nothing is lost.")
    ] = False,
    finish: Annotated[
        bool, typer.Option("--finish", help="End it: there is no way back from here.")
    ] = False,
    delete: Annotated[
        bool, typer.Option("--delete-old", help="With --finish: delete the old topic.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="With --finish: although groups have not read it to its end."),
    ] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Change the number of partitions by a new topic, with order per key and a way back.

    \b
    penstock topics repartition orders --partitions 12    # again: goes on
    penstock topics repartition orders --switch           # producers are stopped
    penstock topics repartition orders --check
    penstock topics repartition orders                    # who is ready
    penstock topics repartition orders --finish --delete-old
    """
    from penstock.cli.repartition.key_place import PARTITIONERS
    from penstock.cli.repartition.phase import Repartition

    chosen = [partitions is not None, switch, check, back, finish]
    if sum(chosen) > 1 or ((delete or force) and not finish):
        raise UsageFailure("one at a time: --partitions, --switch, --check, --back or --finish")
    if partitioner is not None and partitioner not in PARTITIONERS:
        raise UsageFailure(f"--partitioner takes murmur2 or crc32, not {partitioner!r}")
    work = Repartition(cluster_of(ctx), topic)
    if partitions is not None:
        job = work.begin(partitions, to, partitioner)
        said = _copied(job, work.copy(job))
    elif switch:
        said = _switch(work, yes)
    elif check:
        said = _check(work)
    elif back:
        said = _back(work, yes)
    elif finish:
        said = _finish(work, delete=delete, force=force, yes=yes)
    else:
        _show(work, as_json)
        return
    if as_json:
        print_json(said)
    else:
        for line in said["next"]:
            print_line(line)


def _copied(job: Job, count: int) -> dict[str, Any]:
    return {
        "copied": count,
        "target": job.target,
        "partitioner": job.partitioner,
        "next": _COPIED.format(job=job, count=plural(count, "record")).splitlines(),
    }


def _switch(work: Repartition, yes: bool) -> dict[str, Any]:
    from penstock.cli.operator.confirm import confirm

    job = work.job()
    confirm(f"From here on {job.source} takes no more records: are its producers stopped?", yes=yes)
    job = work.switch(job)
    return {
        "phase": job.phase,
        "cut": job.cut,
        "target_cut": job.target_cut,
        "next": _SWITCHED.format(job=job).splitlines(),
    }


def _check(work: Repartition) -> dict[str, Any]:
    compared, wrong = work.check(work.job())
    if wrong:
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise Failure(f"the copy differs: {'; '.join(wrong[:_SHOWN])}{more}; go back with --back")
    said = f"{plural(compared, 'record')} compared: nothing is lost, doubled or out of order"
    return {"compared": compared, "next": [said]}


def _back(work: Repartition, yes: bool) -> dict[str, Any]:
    from penstock.cli.operator.confirm import confirm
    from penstock.cli.repartition.job import Phase

    job = work.job()
    is_early = job.phase in (Phase.copying, Phase.switching)
    question = f"Go back to {job.source}?"
    if not is_early:
        question = f"{job.target} takes no more records: are its producers stopped?"
    confirm(question, yes=yes)
    copied = work.back(job)
    return {
        "copied": copied,
        "next": _RETURNED.format(job=job, count=plural(copied, "record")).splitlines(),
    }


def _finish(work: Repartition, *, delete: bool, force: bool, yes: bool) -> dict[str, Any]:
    from penstock.cli.operator.confirm import confirm

    job = work.job()
    if delete:
        confirm(f"Delete {job.source}? There is no way back.", yes=yes)
    work.finish(job, delete=delete, force=force)
    left = "is deleted" if delete else "stays as it is, closed"
    return {"deleted": delete, "next": [f"{job.target} is the topic now; {job.source} {left}"]}


def _show(work: Repartition, as_json: bool) -> None:
    from penstock.cli.repartition.job import Phase

    job = work.job()
    is_switched = job.phase is Phase.switched
    late = work.late(job) if is_switched else 0
    places = work.groups(job) if is_switched else []
    rows = [(each.group, each.members, each.left(job.cut)) for each in places]
    if as_json:
        groups = [{"group": g, "members": m, "left_on_old": left} for g, m, left in rows]
        found = {"source": job.source, "target": job.target, "phase": job.phase}
        print_json(found | {"checked": job.is_checked, "late": late, "groups": groups})
        return
    print_line(
        f"{job.source} into {job.target}, {plural(job.partitions, 'partition')}: {job.phase}"
    )
    if is_switched:
        print_line("checked" if job.is_checked else "not checked yet: --check")
        if late:
            print_line(f"{plural(late, 'record')} came to {job.source} behind its end")
        if rows:
            shown = [(g, m, left, "waits" if left else "ready") for g, m, left in rows]
            print_table(("group", "members", f"left of {job.source}", "state"), shown)
