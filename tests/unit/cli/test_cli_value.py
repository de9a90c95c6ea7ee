"""Keys and values between bytes and what is typed or printed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.cli.failure import Failure
from penstock.cli.value import Format, json_field, parse_bytes, parse_json_field, show_bytes


@given(st.binary(), st.sampled_from([Format.text, Format.hex, Format.base64]))
def test_shown_bytes_parse_back(content: bytes, form: Format) -> None:
    assert parse_bytes(show_bytes(content, form), form) == content


@given(st.none() | st.binary(), st.sampled_from([Format.text, Format.hex, Format.base64]))
def test_json_members_parse_back(content: bytes | None, form: Format) -> None:
    line = json.loads(json.dumps(json_field("value", content, form)))
    assert parse_json_field(line, "value", form) == content


def test_json_is_embedded_and_made_compact() -> None:
    assert json_field("value", b'{"a": [1, 2]}', Format.json) == {"value": {"a": [1, 2]}}
    assert parse_bytes(b'{"a": [1, 2]}', Format.json) == b'{"a":[1,2]}'


def test_text_that_is_not_utf8_goes_out_as_base64() -> None:
    assert json_field("key", b"\xff", Format.text) == {"key_base64": "/w=="}


@pytest.mark.parametrize("form", [Format.json, Format.hex, Format.base64])
def test_malformed_input_is_named(form: Format) -> None:
    with pytest.raises(Failure, match=f"'zz!' is not {form.value}"):
        parse_bytes(b"zz!", form)


def test_a_record_that_is_not_json_says_so() -> None:
    with pytest.raises(Failure, match="is not JSON; read it with another format"):
        show_bytes(b"{", Format.json)
