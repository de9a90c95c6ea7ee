"""Bounded runs: where they begin and end, settled once, and runs that stand beside each other.

A bounded run reads the offsets from its start to its end, then ends. Both are kept with its
checkpoints, so that a run that was killed ends where it was to. Spark's source knows no end: what
it reads beyond is left out, and the position in the checkpoint may lie behind the end. So a run is
bounded for ever or not at all, and another one goes on behind it (`--after`) from the end itself.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from penstock.pipelines.error import RunError
from penstock.pipelines.folder import Document, Folder
from penstock.pipelines.run.checkpoint_layout import CheckpointLayout
from penstock.pipelines.run.place import Offsets, find_offsets, parse_place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.pipelines.declare import Pipeline
    from penstock.pipelines.run_settings import RunSettings

_RANGE = "range"


@dataclass(frozen=True, slots=True)
class Bound:
    """From where a first run begins, if that is settled; and where it ends, if it does."""

    start: Offsets = field(default_factory=dict)
    end: Offsets = field(default_factory=dict)

    def is_reached(self, positions: Mapping[tuple[str, int], int]) -> bool:
        return bool(self.end) and all(
            positions.get(place, self.start.get(place, 0)) >= end for place, end in self.end.items()
        )

    def within(self, positions: Mapping[tuple[str, int], int]) -> Offsets:
        """Positions, none of them behind the end."""
        return {place: min(at, self.end.get(place, at)) for place, at in positions.items()}


class History(Protocol):
    """What has been read before, which each kind of pipeline keeps in its own way."""

    def has_run(self) -> bool: ...

    def start_of(self, name: str) -> Offsets:
        """Where the run of that name began; nothing where it has not begun."""


@dataclass(frozen=True, slots=True)
class BatchHistory:
    """As checkpoints tell it."""

    pipeline: Pipeline
    spark: SparkSession
    settings: RunSettings

    def has_run(self) -> bool:
        return bool(self._layout(self.pipeline.name).queries())

    def start_of(self, name: str) -> Offsets:
        return self._layout(name).begun()

    def _layout(self, name: str) -> CheckpointLayout:
        home = self.settings.checkpoint_home(name)
        return CheckpointLayout(self.spark, home, self.pipeline.outputs)


def settle(
    name: str,
    spark: SparkSession,
    settings: RunSettings,
    places: list[tuple[str, int]],
    history: History,
) -> Bound:
    """What this run is to read; the same at every start of it."""
    home = Folder(spark, settings.checkpoint_home(name))
    document = Document(home, _RANGE)
    known = document.read()
    asked = {
        "from": settings.starting,
        "to": settings.ending,
        "after": settings.after,
        "before": settings.before,
    }
    bounded = settings.ending is not None or settings.before is not None
    if known is not None:
        if known["asked"] != asked:
            raise RunError(
                f"{name} was begun {_told(known['asked'])}, and goes on only so: start it"
                " like that, or under another name (--as)"
            )
    elif (bounded or settings.after is not None) and history.has_run():
        raise RunError(
            f"{name} has run before, and goes on from its own position: give a run"
            f" {_told(asked)} a name of its own (--as)"
        )
    elif not bounded and settings.after is None:
        return Bound(_unsettled_start(settings, places))
    else:
        bound = _find(spark, settings, places, history)
        known = {"asked": asked, "start": _listed(bound.start), "end": _listed(bound.end)}
        document.write(known)
    return Bound(_offsets(known["start"]), _offsets(known["end"]))


def _unsettled_start(settings: RunSettings, places: list[tuple[str, int]]) -> Offsets:
    """Of a run without an end: only what Spark cannot find by itself, or not alike for all."""
    if settings.starting == "earliest" or settings.starting.startswith("{"):
        return {}
    return find_offsets(parse_place(settings.starting, _now_ms()), places, settings)


def _find(
    spark: SparkSession,
    settings: RunSettings,
    places: list[tuple[str, int]],
    history: History,
) -> Bound:
    if settings.after is not None:
        ends = _end_of(settings.after, spark, settings)
        # A partition that came up since then is read from its beginning.
        start = {each: ends.get(each, 0) for each in places}
    else:
        start = find_offsets(parse_place(settings.starting, _now_ms()), places, settings)
    if settings.before is not None:
        end = _start_of(settings.before, settings, history)
    elif settings.ending is not None:
        place = parse_place(settings.ending, _now_ms())
        if isinstance(place, int) and place > _now_ms():
            raise RunError(f"{settings.ending} is yet to come: give a time that has passed")
        end = find_offsets(place, places, settings)
    else:
        end = {}
    # Never before the start, so that whoever goes on behind it reads nothing twice.
    return Bound(start, {each: max(at, start.get(each, at)) for each, at in end.items()})


def _end_of(name: str, spark: SparkSession, settings: RunSettings) -> Offsets:
    known = Document(Folder(spark, settings.checkpoint_home(name)), _RANGE).read()
    if known is None or not known["end"]:
        raise RunError(f"{name} is no bounded run in {settings.store()}: nothing comes after it")
    return _offsets(known["end"])


def _start_of(name: str, settings: RunSettings, history: History) -> Offsets:
    begun = history.start_of(name)
    if not begun:
        raise RunError(f"{name} has not begun to read in {settings.store()}: start it first")
    return begun


def _told(asked: Mapping[str, Any]) -> str:
    said = [f"--{word} {value}" for word, value in asked.items() if value is not None]
    return "with " + " ".join(said)


def _listed(offsets: Offsets) -> list[list[Any]]:
    return [[topic, partition, at] for (topic, partition), at in sorted(offsets.items())]


def _offsets(listed: list[list[Any]]) -> Offsets:
    return {(str(topic), int(partition)): int(at) for topic, partition, at in listed}


def _now_ms() -> int:
    return int(time.time() * 1000)
