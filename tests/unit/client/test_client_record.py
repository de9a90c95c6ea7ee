"""Records of the application client, without a network."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.client import DecodeError, DeliveryError, produce
from penstock.client.producer import _acks, _settings
from penstock.client.record import (
    decode_key,
    decode_value,
    encode_headers,
    encode_key,
    encode_value,
)
from penstock.client.session import bootstrap_of, close

json_values = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
)


@given(json_values)
def test_values_come_back_as_they_were(value: object) -> None:
    encoded = encode_value(value)
    assert encoded is not None
    assert decode_value("t", 0, 0, encoded) == value


def test_none_is_a_record_without_value() -> None:
    assert encode_value(None) is None
    assert decode_value("t", 0, 0, None) is None


def test_what_is_not_json_is_named_by_its_place() -> None:
    with pytest.raises(DecodeError, match="orders-2 offset 7 is not JSON") as caught:
        decode_value("orders", 2, 7, b"{")
    assert caught.value.value == b"{"


def test_keys_are_text_where_they_can_be() -> None:
    assert encode_key("é") == b"\xc3\xa9"
    assert decode_key(b"\xc3\xa9") == "é"
    assert decode_key(b"\xff") == b"\xff"
    assert decode_key(None) is None


def test_headers_from_a_mapping_or_pairs() -> None:
    assert encode_headers({"a": "b", "n": None}) == [("a", b"b"), ("n", None)]
    assert encode_headers([("a", b"1"), ("a", b"2")]) == [("a", b"1"), ("a", b"2")]
    assert encode_headers(None) == []


def test_idempotence_goes_with_acks_all() -> None:
    assert _settings("h:1", "all", 1)["enable.idempotence"] is True
    assert _settings("h:1", "1", 1)["enable.idempotence"] is False
    assert (_acks(-1), _acks("all"), _acks(1), _acks("0")) == ("all", "all", "1", "0")
    with pytest.raises(ValueError, match='acks is "all", 0 or 1'):
        _acks(2)  # type: ignore[arg-type]


def test_servers_from_argument_variable_or_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PENSTOCK_BOOTSTRAP_SERVERS", raising=False)
    assert bootstrap_of(None) == "127.0.0.1:9092"
    monkeypatch.setenv("PENSTOCK_BOOTSTRAP_SERVERS", "there:1")
    assert bootstrap_of(None) == "there:1"
    assert bootstrap_of("here:2") == "here:2"


def test_a_record_nobody_takes_raises() -> None:
    with pytest.raises(DeliveryError, match="not acknowledged in time"):
        produce("orders", "k", 1, bootstrap_servers="127.0.0.1:1", timeout_s=0.2)
    # It would go on looking for the broker, and saying so, during the tests that follow.
    close()
