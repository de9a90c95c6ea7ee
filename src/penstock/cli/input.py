"""Records as `penstock produce` reads them: from lines, JSON lines or the command line. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.position import TIMESTAMP_MAX
from penstock.cli.value import (
    Format,
    decode_json,
    is_text,
    parse_bytes,
    parse_json_field,
    typed_bytes,
)

Headers = list[tuple[str, bytes | None]]


class OutgoingRecord(NamedTuple):
    key: bytes | None
    value: bytes | None
    headers: Headers
    partition: int
    timestamp_ms: int | None


@dataclass(frozen=True, slots=True)
class Input:
    """How input becomes records: what the options say."""

    values: Sequence[bytes] | None = None
    key: str | None = None
    key_separator: bytes | None = None
    headers: Sequence[str] = ()
    partition: int = -1
    timestamp_ms: int | None = None
    key_format: Format = Format.text
    value_format: Format = Format.text
    whole: bool = False
    records: bool = False
    tombstone: bool = False


def read_records(source: Input, stream: IO[bytes]) -> Iterator[OutgoingRecord]:
    headers = parse_headers(source.headers)
    key = None if source.key is None else parse_bytes(typed_bytes(source.key), source.key_format)
    if source.tombstone:
        yield OutgoingRecord(key, None, headers, source.partition, source.timestamp_ms)
    for number, text in enumerate(_texts(source, stream), 1):
        try:
            if source.records:
                yield _json_record(source, text, key, headers)
            else:
                yield _line_record(source, text, key, headers)
        except Failure as failure:
            raise Failure(f"record {number}: {failure}") from failure
        except UnicodeEncodeError as error:
            # JSON can spell half a character: "\\ud800".
            raise Failure(f"record {number}: {error.object!r} is no text") from error


def _texts(source: Input, stream: IO[bytes]) -> Iterable[bytes]:
    if source.values is not None:
        return source.values
    if source.whole:
        return [stream.read()]
    return (line.removesuffix(b"\n").removesuffix(b"\r") for line in stream)


def _line_record(source: Input, text: bytes, key: bytes | None, headers: Headers) -> OutgoingRecord:
    if source.key_separator is not None:
        written, found, text = text.partition(source.key_separator)
        if not found:
            shown = source.key_separator.decode(errors="replace")
            raise Failure(f"no key separator {shown!r} in the line")
        key = parse_bytes(written, source.key_format)
    value = parse_bytes(text, source.value_format)
    return OutgoingRecord(key, value, headers, source.partition, source.timestamp_ms)


def _json_record(source: Input, text: bytes, key: bytes | None, headers: Headers) -> OutgoingRecord:
    """The options fill in what the line leaves out; the line's own partition is not kept, for
    the other topic may have fewer."""
    try:
        record = decode_json(text)
    except ValueError as error:
        raise Failure(f"not a JSON line: {error}") from error
    if not isinstance(record, dict):
        raise Failure("a JSON line holds an object with key, value, headers")
    own_key = parse_json_field(record, "key", source.key_format)
    own_headers = [_json_header(each) for each in _json_headers(record)]
    return OutgoingRecord(
        key if own_key is None else own_key,
        parse_json_field(record, "value", source.value_format),
        own_headers + headers,
        source.partition,
        _json_timestamp(record) if source.timestamp_ms is None else source.timestamp_ms,
    )


def _json_headers(record: dict[str, Any]) -> list[Any]:
    headers = record.get("headers")
    if not isinstance(headers, list | None):
        raise Failure('headers are a list of {"name": ..., "value": ...}')
    return headers or []


def _json_timestamp(record: dict[str, Any]) -> int | None:
    timestamp = record.get("timestamp")
    if timestamp is None:
        return None
    if type(timestamp) is not int or not 0 <= timestamp <= TIMESTAMP_MAX:
        raise Failure(f"a timestamp is milliseconds since 1970, not {timestamp!r}")
    return timestamp


def _json_header(header: Any) -> tuple[str, bytes | None]:
    if not isinstance(header, dict) or "name" not in header:
        raise Failure('a header is {"name": ..., "value": ...}')
    return _header_name(str(header["name"])), parse_json_field(header, "value", Format.text)


def parse_headers(pairs: Iterable[str]) -> Headers:
    headers: Headers = []
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name:
            raise UsageFailure(f"a header is NAME=VALUE, not {pair!r}")
        headers.append((_header_name(name), typed_bytes(value) if equals else None))
    return headers


def _header_name(name: str) -> str:
    if not is_text(name):
        raise Failure(f"a header's name is text in UTF-8, not {name!r}")
    return name
