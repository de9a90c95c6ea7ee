"""Lines that become records."""

from __future__ import annotations

import io

import pytest

from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.input import Input, OutgoingRecord, read_records
from penstock.cli.value import Format


def records(source: Input, content: bytes = b"") -> list[OutgoingRecord]:
    return list(read_records(source, io.BytesIO(content)))


def test_each_line_is_a_record() -> None:
    assert [each.value for each in records(Input(), b"a\n\nb\r\nlast")] == [
        b"a",
        b"",
        b"b",
        b"last",
    ]


def test_whole_input_is_one_record() -> None:
    assert [each.value for each in records(Input(whole=True), b"a\nb\n")] == [b"a\nb\n"]


def test_key_separator_splits_at_its_first_place() -> None:
    (record,) = records(Input(key_separator=b":"), b"k:v:w\n")
    assert (record.key, record.value) == (b"k", b"v:w")


def test_a_line_without_the_separator_is_named_by_number() -> None:
    with pytest.raises(Failure, match="record 2: no key separator"):
        records(Input(key_separator=b":"), b"k:v\nnothing\n")


def test_options_apply_to_every_record() -> None:
    source = Input(
        values=[b"1", b"2"], key="k", headers=["a=b=c", "flag"], partition=3, timestamp_ms=7
    )
    expected = [("a", b"b=c"), ("flag", None)]
    assert records(source) == [
        OutgoingRecord(b"k", b"1", expected, 3, 7),
        OutgoingRecord(b"k", b"2", expected, 3, 7),
    ]


def test_a_header_needs_a_name() -> None:
    with pytest.raises(UsageFailure, match="a header is NAME=VALUE"):
        records(Input(values=[b""], headers=["=x"]))


def test_tombstone_has_no_value() -> None:
    (record,) = records(Input(values=[], key="k", tombstone=True))
    assert (record.key, record.value) == (b"k", None)


def test_json_lines_carry_their_own_key_headers_and_time() -> None:
    line = (
        b'{"topic":"x","partition":5,"offset":9,"timestamp":11,"key":"k","value":null,'
        b'"headers":[{"name":"h","value":"v"},{"name":"n","value":null}]}\n'
    )
    assert records(Input(records=True), line) == [
        OutgoingRecord(b"k", None, [("h", b"v"), ("n", None)], -1, 11)
    ]


def test_json_lines_embed_values_or_their_bytes() -> None:
    lines = b'{"value":{"a":1}}\n{"value":"ff","key_base64":"/w=="}\n'
    first, second = records(Input(records=True, value_format=Format.hex), lines)
    assert first.value == b'{"a":1}'
    assert (second.key, second.value) == (b"\xff", b"\xff")


@pytest.mark.parametrize("line", [b"nonsense\n", b"[1]\n", b'{"headers":[1]}\n'])
def test_malformed_json_lines_are_named(line: bytes) -> None:
    with pytest.raises(Failure, match="record 1: "):
        records(Input(records=True), line)
