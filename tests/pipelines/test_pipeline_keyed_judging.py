"""Judging events without a broker or Spark: states that change in place, failures, tombstones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from penstock.pipelines.error import DeclarationError, TransientError
from penstock.pipelines.keyed.event import Event
from penstock.pipelines.keyed.judging import Judging, Rows, StepSpec
from penstock.pipelines.retry import Retry


def append(state: Any, event: Event, tables: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    """The code most people write: the state is changed in place."""
    if state is None:
        state = {"seen": []}
    state["seen"].append(event.value)
    if event.value == "poison":
        raise ValueError("no such thing")
    if event.value == "odd":
        state["seen"].append({1, 2})  # no JSON
    if event.value == "forget":
        return None, []
    return state, [("seen", event.key, str(len(state["seen"])))]


def spec(**changes: Any) -> StepSpec:
    usual: dict[str, Any] = {
        "pipeline": "list",
        "topic": "words",
        "step": append,
        "decode": bytes.decode,
        "outputs": ("seen",),
        "counters": ("late",),
        "retry": Retry(attempts_max=3, backoff_s=0.001),
    }
    return StepSpec(**{**usual, **changes})


def rows(*events: tuple[str | None, str | None], start: int = 0) -> Rows:
    return Rows(
        [None if key is None else key.encode() for key, _ in events],
        [None if value is None else value.encode() for _, value in events],
        list(range(start, start + len(events))),
        [1_000 + each for each in range(len(events))],
        lambda index: [("trace", b"t%d" % index)],
    )


def judged(
    own: StepSpec, *events: tuple[str | None, str | None], stored: Mapping[bytes, bytes] = {}
) -> Judging:
    judging = Judging(own, stored.get)
    judging.judge(0, rows(*events), {})
    return judging


def test_a_state_that_is_changed_in_place_is_written() -> None:
    stored = {b"a": b'{"seen":["x"]}', b"b": b'{"seen":["x"]}'}
    judging = judged(spec(), ("a", "y"), ("a", "z"), stored=stored)
    assert judging.changed() == {b"a": b'{"seen":["x","y","z"]}'}
    assert [each["value"] for each in judging.outputs["seen"]] == ["2", "3"]


def test_a_state_that_is_the_same_in_the_end_is_not_written() -> None:
    def look(state: Any, event: Event, tables: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        return {"seen": list(state["seen"])}, []

    stored = {b"a": b'{"seen":["x"]}'}
    assert judged(spec(step=look), ("a", "y"), stored=stored).changed() == {}
    assert judged(spec(), ("b", "forget"), stored=stored).changed() == {}
    assert judged(spec(), ("a", "y"), ("a", "forget"), stored=stored).changed() == {b"a": None}


@pytest.mark.parametrize(("value", "error"), [("poison", b"ValueError"), ("odd", b"TypeError")])
def test_a_step_that_fails_after_changing_its_state_has_changed_nothing(
    value: str, error: bytes
) -> None:
    stored = {b"a": b'{"seen":["x"]}'}
    judging = judged(spec(), ("a", value), ("a", "y"), ("a", value), ("a", "z"), stored=stored)
    assert judging.changed() == {b"a": b'{"seen":["x","y","z"]}'}
    assert [dict(each.headers)["penstock.dlq.error"] for each in judging.dead_letters] == [
        error
    ] * 2
    counts = judging.counts()
    assert (counts["events"], counts["dead_letters"], counts["seen"]) == (4, 2, 2)


def test_each_attempt_gets_the_state_as_it_was_before_the_event() -> None:
    attempts: list[list[str]] = []

    def shaky(state: Any, event: Event, tables: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        attempts.append(list(state["seen"]))
        state["seen"].append(event.value)
        if len(attempts) < 3:
            raise TransientError("not now")
        return state, []

    judging = judged(spec(step=shaky), ("a", "y"), stored={b"a": b'{"seen":["x"]}'})
    assert attempts == [["x"]] * 3
    assert judging.changed() == {b"a": b'{"seen":["x","y"]}'}


def test_rows_that_were_judged_before_are_skipped() -> None:
    judging = Judging(spec(), lambda key: None)
    judging.judge(0, rows(("a", "x"), ("a", "y"), ("a", "z"), start=5), {}, start=7)
    assert judging.changed() == {b"a": b'{"seen":["z"]}'}
    assert (judging.counts()["events"], judging.counts()["skipped"]) == (1, 2)


def test_a_record_without_a_value_is_a_dead_letter_or_dropped_or_judged() -> None:
    dead = judged(spec(), ("a", None))
    (letter,) = dead.dead_letters
    assert (letter.key, letter.value) == (b"a", None)
    headers = dict(letter.headers)
    assert headers["penstock.dlq.error"] == b"Tombstone"
    assert headers["trace"] == b"t0"
    dropped = judged(spec(tombstones="drop"), ("a", None), ("a", "x"))
    assert (dropped.dead_letters, dropped.counts()["seen"]) == ([], 1)
    kept = judged(spec(tombstones="keep"), ("a", None))
    assert kept.changed() == {b"a": b'{"seen":[null]}'}


def test_an_output_that_was_not_declared_stops_the_run() -> None:
    nowhere = spec(step=lambda state, event, tables: (1, [("nowhere", "k", "v")]))
    with pytest.raises(DeclarationError, match="nowhere"):
        judged(nowhere, ("a", "1"))
    counted = judged(spec(step=lambda *_: (1, [("late", None, None)])), ("a", "1"))
    assert counted.counts()["late"] == 1
