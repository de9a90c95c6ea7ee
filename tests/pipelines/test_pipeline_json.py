"""`decode.json` means one thing: in a DataFrame, in a table, and in a keyed pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from penstock.pipelines import decode
from penstock.pipelines.error import DeclarationError
from penstock.pipelines.keyed import Event, KeyedPipeline, keyed
from penstock.pipelines.run_settings import RunSettings
from penstock.pipelines.sources.table import table, unfollow
from penstock.pipelines.sources.topic import topic
from penstock.pipelines.transforms import dead_letter
from penstock.testing.broker import Broker
from tests.pipelines.json_case import GOOD, POISON, SCHEMA
from tests.pipelines.test_pipeline_decode import outcomes

CASES: list[tuple[bytes, Any]] = [*GOOD, *POISON]
VALUES = [value for value, _ in CASES]


def plain(found: Any) -> Any:
    """As the cases have it: bytes, and times that know their zone."""
    if isinstance(found, dict):
        return {key: plain(value) for key, value in found.items()}
    if isinstance(found, list):
        return [plain(each) for each in found]
    if isinstance(found, bytearray):
        return bytes(found)
    if isinstance(found, datetime) and found.tzinfo is None:
        return found.replace(tzinfo=UTC)
    return found


def test_in_a_frame(spark: Any) -> None:
    found = [plain(each) for each in outcomes(spark, decode.json(SCHEMA), list(VALUES))]
    assert list(zip(VALUES, found, strict=True)) == CASES


def test_in_python(spark: Any) -> None:
    decoder: Any = decode.json(SCHEMA)
    decoder = decoder.portable()

    def outcome(value: bytes) -> Any:
        try:
            return decoder.load(value)
        except ValueError as error:
            return type(error).__name__

    assert [(value, outcome(value)) for value in VALUES] == CASES


def echo() -> KeyedPipeline:
    @keyed(
        name="echo",
        source=topic("numbered", decode=decode.json(SCHEMA)),
        outputs={"out": "echoed"},
    )
    def echo(state: Any, event: Event, tables: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        return state, [("out", event.key, repr(event.value))]

    return echo


@pytest.mark.timeout(400)
def test_in_a_table_and_in_a_keyed_pipeline(
    penstock: Broker, spark: Any, pipeline_run: Callable[..., Any]
) -> None:
    penstock.create_topic("numbered")
    penstock.produce("numbered", [(str(index), value) for index, value in enumerate(VALUES)])
    good = {str(index): made for index, (_, made) in enumerate(GOOD)}
    limits = table("numbered", decode=decode.json(SCHEMA))
    opened = limits.open(RunSettings(penstock.bootstrap_servers))
    try:
        assert dict(opened.follower().rows()) == good
        assert opened.follower().undecodable == len(POISON)
    finally:
        unfollow(limits)
    pipeline_run(echo())
    said = {each.key: each.value for each in penstock.read("echoed", count=len(GOOD))}
    assert said == {key.encode(): repr(made).encode() for key, made in good.items()}
    letters = penstock.read("echo.dead-letters", count=len(POISON))
    errors = {each.key: dict(each.headers)[dead_letter.ERROR].decode() for each in letters}
    bad = {str(index).encode(): error for index, (_, error) in enumerate(CASES)}
    assert errors == {key: bad[key] for key in errors} and len(errors) == len(POISON)


def test_options_are_for_frames_only(spark: Any) -> None:
    decoder: Any = decode.json("at timestamp", options={"timestampFormat": "dd.MM.yyyy"})
    (found,) = outcomes(spark, decoder, [b'{"at":"02.01.2024"}'])
    assert found == {"at": datetime.fromisoformat("2024-01-02")}
    with pytest.raises(DeclarationError, match=r"DataFrames only.*timestampFormat"):
        decoder.portable()


def test_a_type_that_python_does_not_read_is_refused(spark: Any) -> None:
    decoder: Any = decode.json("much variant")
    with pytest.raises(DeclarationError, match="variant"):
        decoder.portable()
