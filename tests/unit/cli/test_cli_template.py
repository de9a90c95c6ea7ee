"""Output templates and escapes."""

from __future__ import annotations

import pytest

from penstock.cli.failure import UsageFailure
from penstock.cli.template import Template
from penstock.cli.value import Format, unescape
from tests.unit.cli.test_cli_output import FakeMessage


def render(text: str, message: FakeMessage, value_format: Format = Format.text) -> bytes:
    return Template(text, Format.text, value_format).render(message)


def test_every_letter() -> None:
    message = FakeMessage(b"k", b"value", [("h", b"1"), ("n", None)])
    shown = render(r"%t [%p] @%o %T %k/%K %s/%S %h %%\n", message)
    assert shown == b"orders [2] @7 1600000000123 k/1 value/5 h=1,n %\n"


def test_what_is_missing() -> None:
    assert render("%k %K %s %S|%h", FakeMessage(None, None)) == b"null -1 null -1|"


def test_formats_apply_to_values() -> None:
    assert render("%s", FakeMessage(None, b"\xff"), Format.hex) == b"ff"


@pytest.mark.parametrize("text", ["%z", "%", "a%"])
def test_letters_there_are_not(text: str) -> None:
    with pytest.raises(UsageFailure, match="--template has no %"):
        render(text, FakeMessage(None, None))


def test_escapes() -> None:
    assert unescape(r"\t\n\r\0\\\x41é") == b"\t\n\r\0\\A" + "é".encode()
    assert unescape("\udcff") == b"\xff"


@pytest.mark.parametrize("text", ["\\", r"\q", r"\x4", r"\xzz"])
def test_escapes_there_are_not(text: str) -> None:
    with pytest.raises(UsageFailure, match="the escapes are"):
        unescape(text)
