"""`penstock dlq`: what is typed, and what is printed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.argument import INT_MAX, Json, cluster_of, quiet_app
from penstock.cli.completion import complete_topics
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.output import plural, print_json, print_line, print_table, show_age, show_time
from penstock.cli.progress import Progress
from penstock.cli.value import Format, encode_json, json_field

if TYPE_CHECKING:
    from penstock.cli.cluster import Cluster
    from penstock.pipelines.dlq import Choice, DeadLetter, Tally

app = quiet_app("Dead letters of pipelines and applications: list, show, redrive.")

_PREVIEW_CHARACTERS = 120

Topic = Annotated[
    str,
    typer.Argument(
        metavar="TOPIC",
        show_default=False,
        help="A dead-letter topic.",
        autocompletion=complete_topics,
    ),
]
Error = Annotated[
    str | None, typer.Option("--error", "-e", metavar="CLASS", help="Only this class of error.")
]
Partition = Annotated[
    int | None,
    typer.Option("--partition", "-p", metavar="N", min=0, max=INT_MAX, help="Only this partition."),
]
Offset = Annotated[
    int | None,
    typer.Option("--offset", metavar="OFFSET", min=0, help="Only this letter. Needs --partition."),
]


@app.command("list")
def list_command(
    ctx: typer.Context,
    topics: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TOPIC",
            show_default="every *.dead-letters",
            help="Dead-letter topics.",
            autocompletion=complete_topics,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Count dead letters by topic and class of error."""
    from penstock.pipelines.dlq import dead_letter_topics, tallies

    cluster = cluster_of(ctx)
    with _explaining(cluster):
        client = cluster.client_settings()
        names = topics or dead_letter_topics(client, cluster.timeout_s)
        found = [one for name in names for one in tallies(client, name, cluster.timeout_s)]
    if as_json:
        print_json([_tally_document(each) for each in found])
        return
    columns = ("topic", "error", "letters", "waiting", "from", "oldest", "newest")
    now_ms = time.time_ns() // 1_000_000
    print_table(columns, [_tally_row(each, now_ms) for each in found])


def _tally_row(tally: Tally, now_ms: int) -> tuple[str, str, int, int, str, str, str]:
    origins = ",".join(sorted(tally.origins))
    # A record without any of our headers, as an ordinary topic has them.
    error = "(no dead letter)" if tally.origins == {"unknown"} else tally.error
    oldest, newest = show_age(tally.oldest_ms, now_ms), show_age(tally.newest_ms, now_ms)
    return tally.topic, error, tally.count, tally.waiting, origins, oldest, newest


def _tally_document(tally: Tally) -> dict[str, Any]:
    return {
        "topic": tally.topic,
        "error": tally.error,
        "letters": tally.count,
        "waiting": tally.waiting,
        "pipelines": sorted(tally.pipelines),
        "origins": sorted(tally.origins),
        "oldest": tally.oldest_ms,
        "newest": tally.newest_ms,
    }


@app.command("show")
def show_command(
    ctx: typer.Context,
    topic: Topic,
    error: Error = None,
    partition: Partition = None,
    offset: Offset = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, help="At most N letters.")
    ] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line.")] = False,
) -> None:
    """Show dead letters: origin, error and the start of the value."""
    choice = _choice(error, partition, offset)
    from penstock.pipelines.dlq import letters

    cluster = cluster_of(ctx)
    with _explaining(cluster):
        client = cluster.client_settings()
        for letter in letters(client, topic, choice, limit, cluster.timeout_s):
            _check_letter(letter)
            if as_json:
                print_line(encode_json(_document(letter)).decode())
            else:
                _print_letter(letter)


def _check_letter(letter: DeadLetter) -> None:
    if letter.origin_topic is None:
        raise Failure(
            f"{letter.topic} holds records that are no dead letters, such as "
            f"{letter.partition}:{letter.offset}; `penstock consume {letter.topic}` prints them"
        )


def _print_letter(letter: DeadLetter) -> None:
    origin = f"{letter.origin_topic}-{letter.origin_partition} @ {letter.origin_offset}"
    print_line(
        f"{letter.partition}:{letter.offset}  {show_time(letter.timestamp_ms)}  from {origin}"
    )
    print_line(f"  {letter.error}: {letter.message}")
    again = f", sent back {plural(letter.redriven, 'time')} before" if letter.redriven else ""
    print_line(f"  attempt {letter.attempt}{again}; key {_preview(letter.key)}")
    print_line(f"  {_preview(letter.value)}")


def _document(letter: DeadLetter) -> dict[str, Any]:
    from penstock.pipelines.transforms import dead_letter as name

    return (
        {"topic": letter.topic, "partition": letter.partition, "offset": letter.offset}
        | {"timestamp": letter.timestamp_ms, "error": letter.error, "message": letter.message}
        | {"attempt": letter.attempt, "class": letter.said.get(name.CLASS)}
        | {
            "pipeline": letter.said.get(name.PIPELINE),
            "origin": {
                "topic": letter.origin_topic,
                "partition": letter.origin_partition,
                "offset": letter.origin_offset,
            },
            "redriven": letter.redriven,
            "history": letter.history,
        }
        | json_field("key", letter.key, Format.text)
        | json_field("value", letter.value, Format.text)
    )


def _preview(content: bytes | None) -> str:
    """Readable bytes as they are, others escaped, neither longer than a line or two."""
    if content is None:
        return "null"
    shown = content[:_PREVIEW_CHARACTERS].decode(errors="backslashreplace")
    shown = "".join(one if one.isprintable() else repr(one)[1:-1] for one in shown)
    rest = len(content) - _PREVIEW_CHARACTERS
    return f"{shown}… and {plural(rest, 'byte')} more" if rest > 0 else shown


@app.command("redrive")
def redrive_command(
    ctx: typer.Context,
    topic: Topic,
    error: Error = None,
    partition: Partition = None,
    offset: Offset = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", metavar="N", min=1, help="At most N letters.")
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option("--rate", metavar="N", min=0.1, help="At most N letters a second."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Send nothing; say what would be sent.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Send dead letters back to the topics they came from.

    Each letter is sent once, also when the command is interrupted and run again.

    \b
    penstock dlq redrive fraud.dead-letters --dry-run
    penstock dlq redrive fraud.dead-letters --error DecodeError --rate 100
    """
    choice = _choice(error, partition, offset)
    from penstock.pipelines.redrive import Redrive

    cluster = cluster_of(ctx)
    progress = Progress("redriven")
    with _explaining(cluster):
        redrive = Redrive(
            cluster.client_settings(),
            topic,
            choice,
            limit=limit,
            rate=rate,
            timeout_s=cluster.timeout_s,
            on_sent=progress.add,
        )
        try:
            outcome = redrive.plan() if dry_run else redrive.run()
        finally:
            progress.clear()
    if as_json:
        print_json({"dry_run": dry_run, "sent": outcome.sent, "topics": outcome.by_topic})
        return
    verb = "would send" if dry_run else "sent"
    if not outcome.sent:
        print_line(f"nothing to send: no letter of {topic} that was chosen still waits")
    for origin, count in sorted(outcome.by_topic.items()):
        print_line(f"{verb} {plural(count, 'letter')} back to {origin}")


def _choice(error: str | None, partition: int | None, offset: int | None) -> Choice:
    if offset is not None and partition is None:
        raise UsageFailure("an offset means a letter only together with --partition")
    from penstock.pipelines.dlq import Choice

    return Choice(error, partition, offset)


@contextmanager
def _explaining(cluster: Cluster) -> Iterator[None]:
    from penstock.pipelines.redrive import RedriveError
    from penstock.pipelines.scan import UnreadableError

    try:
        with cluster.explaining():
            yield
    except (RedriveError, UnreadableError) as error:
        raise Failure(str(error)) from error
