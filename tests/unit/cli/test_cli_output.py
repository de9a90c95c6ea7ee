"""Tables, sizes, addresses and printed records."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from penstock.cli.cluster import key_values, parse_address
from penstock.cli.failure import UsageFailure, complain
from penstock.cli.output import human_bytes, plain_table, plural, print_json, print_line, quoted
from penstock.cli.printer import RecordPrinter
from penstock.cli.value import Format


class FakeMessage:
    def __init__(self, key: bytes | None, value: bytes | None, headers: Any = None) -> None:
        self._key, self._value, self._headers = key, value, headers

    def topic(self) -> str:
        return "orders"

    def partition(self) -> int:
        return 2

    def offset(self) -> int:
        return 7

    def timestamp(self) -> tuple[int, int]:
        return 1, 1_600_000_000_123

    def key(self) -> bytes | None:
        return self._key

    def value(self) -> bytes | None:
        return self._value

    def headers(self) -> Any:
        return self._headers


def test_numbers_stand_right_and_words_left() -> None:
    assert plain_table(("name", "size"), [("a", 5), ("longer", 100)]) == [
        "NAME    SIZE",
        "a          5",
        "longer   100",
    ]


def test_letters_that_take_two_columns_do_not_shift_the_next() -> None:
    assert plain_table(("group", "n"), [("支払い", 1), ("cafe\u0301", 2), ("müll", 3)]) == [
        "GROUP   N",
        "支払い  1",
        "cafe\u0301    2",
        "müll    3",
    ]


EVIL = "\x1b[2J\x9b1mx\ny\u202e"
"""What a client may call itself: clears the screen, begins a line, turns the text around."""


def test_names_do_not_drive_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    (_, row) = plain_table(("group",), [(EVIL,)])
    assert row == "\\x1b[2J\\x9b1mx\\ny\\u202e"
    print_line(f"{EVIL}\tz")
    assert capsys.readouterr().out == "\\u001b[2J\\u009b1mx\ny\\u202e\tz\n"
    complain(EVIL)
    assert capsys.readouterr().err == "penstock: \\u001b[2J\\u009b1mx y\\u202e\n"
    print_json({"group": EVIL})
    said = capsys.readouterr().out
    assert json.loads(said) == {"group": EVIL}
    assert not any(each in said for each in "\x1b\x9b\u202e")


@pytest.mark.parametrize(
    "name", ["billing", "two words", "x; rm -rf ~", "$(reboot)", "it's", "é", "a\\b'c\n$x\x1b[2J"]
)
def test_the_shell_takes_a_name_for_nothing_else(name: str) -> None:
    said = subprocess.run(
        ["bash", "-c", f"printf %s {quoted(name)}"], capture_output=True, check=True
    )
    assert said.stdout.decode() == name
    assert "\n" not in quoted(name) and "\x1b" not in quoted(name)


def test_a_table_without_rows_is_its_header() -> None:
    assert plain_table(("a", "b"), []) == ["A  B"]


def test_missing_cells_are_dashes() -> None:
    assert plain_table(("leader",), [(None,)]) == ["LEADER", "-"]


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (1 << 30, "1.0 GiB")]
)
def test_human_bytes(count: int, text: str) -> None:
    assert human_bytes(count) == text


def test_plural() -> None:
    assert (plural(1, "record"), plural(2000, "record")) == ("1 record", "2,000 records")


@pytest.mark.parametrize(
    ("text", "address"),
    [("h:1", ("h", 1)), ("h", ("h", 9092)), ("[::1]:9", ("::1", 9)), (" a:2 ", ("a", 2))],
)
def test_addresses(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize("text", ["h:x", ":1", ""])
def test_malformed_addresses(text: str) -> None:
    with pytest.raises(UsageFailure, match="HOST:PORT"):
        parse_address(text)


def test_key_values() -> None:
    assert key_values(["a=b=c", " d = e "], "--set") == {"a": "b=c", "d": "e"}
    with pytest.raises(UsageFailure, match="--set takes KEY=VALUE, not 'a'"):
        key_values(["a"], "--set")


def test_a_line_is_the_value_as_it_is() -> None:
    assert RecordPrinter().line(FakeMessage(b"k", b"\xff\x00")) == b"\xff\x00"


def test_a_line_with_everything() -> None:
    printer = RecordPrinter(keys=True, headers=True, meta=True, separator=b"|")
    message = FakeMessage(None, b"v", [("h", b"1"), ("n", None)])
    assert printer.line(message) == b"2:7|2020-09-13T12:26:40.123Z|h=1,n|null|v"


def test_a_json_line() -> None:
    printer = RecordPrinter(as_json=True, value_format=Format.json)
    line = printer.json_line(FakeMessage(b"k", b'{"a":1}', [("h", b"1")]))
    assert json.loads(line) == {
        "topic": "orders",
        "partition": 2,
        "offset": 7,
        "timestamp": 1_600_000_000_123,
        "key": "k",
        "value": {"a": 1},
        "headers": [{"name": "h", "value": "1"}],
    }
