"""`penstock produce`: what is typed, and what is printed."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from penstock.cli.argument import INT_MAX, ClusterCommand, Json, cluster_of
from penstock.cli.completion import complete_topics
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.input import Input, read_records
from penstock.cli.input_stream import InputStream
from penstock.cli.output import plural, print_line
from penstock.cli.position import parse_time
from penstock.cli.value import Format, encode_json, typed_bytes, unescape


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


class ProduceCommand(ClusterCommand):
    raw: ClassVar[frozenset[str]] = frozenset({"value", "key", "header", "key_separator"})


def produce(
    ctx: typer.Context,
    topic: Annotated[
        str,
        typer.Argument(
            metavar="TOPIC",
            show_default=False,
            help="Where to send.",
            autocompletion=complete_topics,
        ),
    ],
    value: Annotated[
        list[str] | None,
        typer.Option("--value", "-v", metavar="TEXT", help="A value, instead of input."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", metavar="FILE", help="Read a file instead of stdin."),
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="The input is one record, not one per line.")
    ] = False,
    records: Annotated[
        bool,
        typer.Option("--records", help="Lines are records as `consume --json` prints them."),
    ] = False,
    key: Annotated[
        str | None,
        typer.Option("--key", "-k", metavar="TEXT", help="The key of every record."),
    ] = None,
    key_separator: Annotated[
        str | None,
        typer.Option(
            "--key-separator", "-K", metavar="TEXT", help="Separates key and value in a line."
        ),
    ] = None,
    tombstone: Annotated[
        bool, typer.Option("--tombstone", help="Send the --key without a value.")
    ] = False,
    header: Annotated[
        list[str] | None,
        typer.Option("--header", "-H", metavar="NAME=VALUE", help="A header."),
    ] = None,
    partition: Annotated[
        int,
        typer.Option(
            "--partition",
            "-p",
            metavar="N",
            min=-1,
            max=INT_MAX,
            show_default="chosen by the key",
            help="Send to this partition.",
        ),
    ] = -1,
    timestamp: Annotated[
        str | None,
        typer.Option(metavar="TIME", show_default="now", help="ISO time or @MILLISECONDS."),
    ] = None,
    acks: Annotated[
        Acks, typer.Option(metavar="ACKS", help="Acknowledgements to wait for: all, 1 or 0.")
    ] = Acks.all,
    compression: Annotated[
        Compression,
        typer.Option(
            "--compression", "-z", metavar="CODEC", help="none, gzip, snappy, lz4 or zstd."
        ),
    ] = Compression.lz4,
    key_format: Annotated[
        Format, typer.Option(metavar="FORMAT", help="Format of keys.")
    ] = Format.text,
    value_format: Annotated[
        Format,
        typer.Option(
            "--format",
            "--value-format",
            metavar="FORMAT",
            help="Format of values: text, json, hex or base64.",
        ),
    ] = Format.text,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    as_json: Json = False,
) -> int:
    """Send records to a topic: lines of stdin, a file, or --value.

    \b
    echo hello | penstock produce greetings
    penstock produce orders -k 42 --format json -v '{"total": 9.5}'
    penstock consume orders --json | penstock produce copy --records
    """
    if tombstone and key is None:
        raise UsageFailure("--tombstone needs the --key to forget")
    source = Input(
        values=None if not (value or tombstone) else [typed_bytes(each) for each in value or ()],
        key=key,
        key_separator=None if key_separator is None else _separator(key_separator),
        headers=header or (),
        partition=partition,
        timestamp_ms=None if timestamp is None else parse_time(timestamp),
        key_format=key_format,
        value_format=value_format,
        whole=whole,
        records=records,
        tombstone=tombstone,
    )
    cluster = cluster_of(ctx)
    from penstock.cli.sender import Sender

    with _open(source, file) as stream:
        sender = Sender(
            cluster,
            topic,
            acks=acks.value,
            compression=compression.value,
            stream=not stream.complete,
            on_delivery=_print_delivery if as_json else None,
            quiet=quiet,
        )
        failure = sender.send_all(read_records(source, stream.content))
    if not (quiet or as_json) and (sender.delivered or failure is None):
        took = sender.progress.elapsed_s
        done = plural(sender.delivered, "record")
        print_line(f"produced {done} to {topic} in {took:.2f} s")
    if failure is not None:
        raise Failure(f"{plural(sender.failed, 'record')} not delivered to {topic}: {failure}")
    return 0


def _separator(text: str) -> bytes:
    if not text:
        raise UsageFailure("--key-separator is empty; give what stands between key and value")
    return unescape(text)


def _open(source: Input, file: Path | None) -> InputStream:
    if source.values is not None and file is not None:
        raise UsageFailure("give --value or --file, not both")
    if source.values is not None:
        return InputStream.open(os.devnull)
    if file is not None:
        return InputStream.open(str(file))
    if sys.stdin.isatty():
        sys.stderr.write("One record per line; end with Ctrl-D.\n")
    return InputStream(sys.stdin.fileno(), "stdin")


def _print_delivery(message: Any) -> None:
    delivered = {
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": message.offset(),
        "timestamp": message.timestamp()[1],
    }
    print_line(encode_json(delivered).decode())
