"""Parsing, checking and rendering of values, as Kafka does it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.settings.check import Choice, Filled, at_least, between, one_of, some_of
from penstock.settings.key import (
    BOOLEAN,
    DOUBLE,
    INT,
    LIST,
    LONG,
    PASSWORD,
    SHORT,
    STRING,
    Key,
    ValueProblem,
    render,
)
from penstock.settings.topic import TOPIC_KEYS


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (BOOLEAN, " TRUE ", True),
        (BOOLEAN, "false", False),
        (INT, "+5", 5),
        (INT, " -7 ", -7),
        (INT, "2147483647", 2**31 - 1),
        (SHORT, "-32768", -32768),
        (LONG, "9223372036854775807", 2**63 - 1),
        (DOUBLE, "0.5f", 0.5),
        (DOUBLE, "1e3", 1000.0),
        (DOUBLE, ".25", 0.25),
        (DOUBLE, "-Infinity", float("-inf")),
        (LIST, "", []),
        (LIST, " a , b,c ", ["a", "b", "c"]),
        (STRING, " x y ", "x y"),
        (PASSWORD, " secret ", " secret "),
    ],
)
def test_values_are_parsed(kind: int, text: str, value: object) -> None:
    parsed = Key("some.key", kind).parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("retention.ms", "-5", "Value must be at least -1"),
        ("retention.ms", "x", "Not a number of type LONG"),
        ("retention.ms", "", "Not a number of type LONG"),
        ("retention.ms", "1_000", "Not a number of type LONG"),
        ("retention.ms", "0x10", "Not a number of type LONG"),
        ("segment.bytes", "99999999999", "Not a number of type INT"),
        ("segment.bytes", "14", "Value must be at least 1048576"),
        ("compression.lz4.level", "18", "Value must be no more than 17"),
        ("compression.gzip.level", "0", "Value must be between 1 and 9 or equal to -1"),
        ("min.cleanable.dirty.ratio", "x", "Not a number of type DOUBLE"),
        ("preallocate", "x", "Expected value to be either true or false"),
        ("cleanup.policy", "compact,,delete", "An item of the list is empty"),
        ("cleanup.policy", "foo", "String must be one of: compact, delete"),
        ("message.timestamp.type", "x", "String must be one of: CreateTime, LogAppendTime"),
    ],
)
def test_complaints_are_those_that_kafka_users_know(name: str, text: str, complaint: str) -> None:
    with pytest.raises(ValueProblem) as caught:
        TOPIC_KEYS[name].parse(text)
    assert str(caught.value) == f"Invalid value {text} for configuration {name}: {complaint}"


def test_a_number_out_of_range_is_shown_as_it_was_understood() -> None:
    with pytest.raises(ValueProblem, match=r"^Invalid value 2\.0 for .*: Value must be no more"):
        TOPIC_KEYS["min.cleanable.dirty.ratio"].parse("2")


@pytest.mark.parametrize("text", ["inf", "nan", "1_0", "", "--1", "1e", "0x1p3", "f"])
def test_only_decimal_numbers_are_doubles(text: str) -> None:
    with pytest.raises(ValueProblem):
        Key("some.ratio", DOUBLE).parse(text)


@pytest.mark.parametrize("text", ["*", "", "0:1", "0:1, 12:3"])
def test_throttled_replicas(text: str) -> None:
    TOPIC_KEYS["leader.replication.throttled.replicas"].parse(text)


@pytest.mark.parametrize("text", ["abc", "0:1,*", "0", ":", "0:x", "-1:2"])
def test_malformed_throttled_replicas(text: str) -> None:
    with pytest.raises(ValueProblem, match="partition:broker"):
        TOPIC_KEYS["leader.replication.throttled.replicas"].parse(text)


def test_repeated_choices_count_once() -> None:
    assert TOPIC_KEYS["cleanup.policy"].parse("compact, delete,compact") == ["compact", "delete"]
    assert TOPIC_KEYS["cleanup.policy"].parse("") == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (True, "true"),
        (5, "5"),
        (0.5, "0.5"),
        (0.0, "0.0"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (1e7, "1.0E7"),
        (12345678.9, "1.23456789E7"),
        (9999999.0, "9999999.0"),
        (0.0001, "1.0E-4"),
        (float("inf"), "Infinity"),
        (float("nan"), "NaN"),
        (["a", "b"], "a,b"),
        ([], ""),
    ],
)
def test_values_are_shown_as_java_shows_them(value: object, text: str | None) -> None:
    assert render(value) == text  # type: ignore[arg-type]


@given(st.floats(allow_nan=False))
def test_doubles_survive_rendering(value: float) -> None:
    assert Key("some.ratio", DOUBLE).parse(render(value) or "") == value


@given(st.integers())
def test_integers_are_bounded_by_their_type(value: int) -> None:
    for kind, bits in ((SHORT, 15), (INT, 31), (LONG, 63)):
        key = Key("some.number", kind)
        if -(2**bits) <= value < 2**bits:
            assert key.parse(str(value)) == value
        else:
            with pytest.raises(ValueProblem):
                key.parse(str(value))


def test_long_values_are_not_repeated_in_full() -> None:
    for name, text in (("retention.ms", "9" * 5_000_000), ("cleanup.policy", "x," * 100_000)):
        with pytest.raises(ValueProblem) as caught:
            TOPIC_KEYS[name].parse(text)
        assert len(str(caught.value)) < 400


def test_checks_describe_themselves() -> None:
    assert str(at_least(-2)) == "[-2,...]"
    assert str(between(1, 9, -1)) == "[1,...,9] or -1"
    assert str(one_of("a", "b")) == "[a, b]"
    assert str(Filled()) == "not empty"
    folded = Choice("UP", "DOWN", fold=True)
    assert str(folded) == "(case insensitive) [UP, DOWN]"
    assert folded("up") is None
    assert folded("left") == "String must be one of (case insensitive): UP, DOWN"
    assert Filled()("") == "String must be non-empty"
    assert Filled()([]) == "List must not be empty"
    assert some_of("a", "b")([]) == "At least one is needed of: a, b"
    assert some_of("a", "b")(["b"]) is None


def test_passwords_are_sensitive() -> None:
    assert Key("some.password", PASSWORD).is_sensitive
    assert not Key("some.text", STRING).is_sensitive
