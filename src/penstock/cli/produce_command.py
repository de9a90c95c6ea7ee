"""`penstock produce`: what is typed, and what is printed."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.argument import Bootstrap, Json, cluster_of
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.input import Input, read_records
from penstock.cli.output import plural, print_line
from penstock.cli.position import parse_time
from penstock.cli.value import Format, encode_json


class Acks(StrEnum):
    all = "all"
    one = "1"
    none = "0"


class Compression(StrEnum):
    none = "none"
    gzip = "gzip"
    snappy = "snappy"
    lz4 = "lz4"
    zstd = "zstd"


def produce(
    ctx: typer.Context,
    topic: Annotated[str, typer.Argument(metavar="TOPIC", show_default=False)],
    value: Annotated[
        list[str] | None,
        typer.Option("--value", "-v", help="A record's value, instead of input; repeatable."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="Read records from a file, not stdin.")
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="The input is one record, not one per line.")
    ] = False,
    records: Annotated[
        bool,
        typer.Option("--records", help="Each line is a record as `consume --json` prints it."),
    ] = False,
    key: Annotated[str | None, typer.Option("--key", "-k", help="The key of every record.")] = None,
    key_separator: Annotated[
        str | None,
        typer.Option("--key-separator", "-K", help="What stands between key and value in a line."),
    ] = None,
    tombstone: Annotated[
        bool, typer.Option("--tombstone", help="One record of --key without a value.")
    ] = False,
    header: Annotated[
        list[str] | None,
        typer.Option("--header", "-H", metavar="NAME=VALUE", help="A header; repeatable."),
    ] = None,
    partition: Annotated[
        int, typer.Option("--partition", "-p", min=-1, help="-1: chosen by the key.")
    ] = -1,
    timestamp: Annotated[
        str | None, typer.Option(help="ISO time or @MILLISECONDS [default: now]")
    ] = None,
    acks: Annotated[Acks, typer.Option(help="Whose acknowledgement to wait for.")] = Acks.all,
    compression: Annotated[Compression, typer.Option("--compression", "-z")] = Compression.lz4,
    key_format: Annotated[Format, typer.Option(help="How keys are written.")] = Format.text,
    value_format: Annotated[
        Format, typer.Option("--format", "--value-format", help="How values are written.")
    ] = Format.text,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
    bootstrap_server: Bootstrap = None,
    as_json: Json = False,
) -> int:
    """Send records to a topic: the lines of stdin, or --value, --file.

    \b
    echo hello | penstock produce greetings
    penstock produce orders -k 42 --format json -v '{"total": 9.5}'
    penstock consume orders --json | penstock produce copy --records
    """
    if tombstone and key is None:
        raise UsageFailure("--tombstone needs the --key to forget")
    source = Input(
        values=None if not (value or tombstone) else [each.encode() for each in value or ()],
        key=key,
        key_separator=key_separator,
        headers=header or (),
        partition=partition,
        timestamp_ms=None if timestamp is None else parse_time(timestamp),
        key_format=key_format,
        value_format=value_format,
        whole=whole,
        records=records,
        tombstone=tombstone,
    )
    from penstock.cli.sender import Sender

    sender = Sender(
        cluster_of(ctx, bootstrap_server),
        topic,
        acks=acks.value,
        compression=compression.value,
        stream=source.values is None,
        on_delivery=_print_delivery if as_json else None,
    )
    with _open(source, file) as stream:
        failure = sender.send_all(read_records(source, stream))
    if not (quiet or as_json) and (sender.delivered or failure is None):
        took = sender.progress.elapsed_s
        done = plural(sender.delivered, "record")
        print_line(f"produced {done} to {topic} in {took:.2f} s")
    if failure is not None:
        raise Failure(f"{plural(sender.failed, 'record')} not delivered to {topic}: {failure}")
    return 0


def _open(source: Input, file: Path | None) -> Any:
    if source.values is not None and file is not None:
        raise UsageFailure("give --value or --file, not both")
    if file is not None:
        try:
            return file.open("rb")
        except OSError as error:
            raise Failure(f"{file}: {error.strerror}") from error
    if source.values is None and sys.stdin.isatty():
        sys.stderr.write("One record per line; end with Ctrl-D.\n")
    return open(sys.stdin.fileno(), "rb", closefd=False)


def _print_delivery(message: Any) -> None:
    delivered = {
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": message.offset(),
        "timestamp": message.timestamp()[1],
    }
    print_line(encode_json(delivered).decode())
