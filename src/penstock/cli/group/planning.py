"""Plans for changes of offsets, made of what a cluster has now. Changes nothing."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from penstock.cli.cluster import unknown_topic
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.group import reset
from penstock.cli.group.reader import ClusterReader
from penstock.cli.group.record_time import read_times
from penstock.cli.group.state import Group, PartitionLag, Place
from penstock.cli.group.undo import FormerOffsets
from penstock.cli.leader_call import list_offsets
from penstock.cli.position import Anchor, parse_position


def plan_reset(
    reader: ClusterReader, group: Group, to: str | None, shift: int | None, topics: Iterable[str]
) -> reset.Plan:
    """Of the topics that are named, or of all that the group has offsets of."""
    committed = reader.committed([group]).get(group.name, {})
    named = _selected(reader, topics)
    places = named or set(committed)
    if not places:
        raise Failure(
            f"group {group.name} has no offsets; name the topics with --topic, or use "
            "`penstock groups seed`"
        )
    if to is not None:
        wanted = _targets(reader, places, to)
    else:
        some = {place: offset for place, offset in committed.items() if place in places}
        starts, ends = reader.starts(some), reader.ends(some)
        _check_answered(some, ends)
        wanted = reset.shifted(some, shift or 0, starts, ends)
    return _timed(reader, reset.plan(committed, wanted))


def plan_seed(
    reader: ClusterReader, group: Group | None, topics: Iterable[str], to: str
) -> reset.Plan:
    committed = {} if group is None else reader.committed([group]).get(group.name, {})
    places = _selected(reader, topics) - set(committed)
    return _timed(reader, reset.plan(committed, _targets(reader, places, to)))


def plan_undo(
    reader: ClusterReader, name: str, group: Group | None, former: FormerOffsets
) -> reset.Plan:
    committed = {} if group is None else reader.committed([group]).get(name, {})
    return _timed(reader, reset.plan(committed, former.offsets))


def rows_of_topics(
    reader: ClusterReader, group: Group | None, topics: Sequence[str]
) -> list[PartitionLag]:
    """Every partition of these topics, or all that the group has."""
    known = reader.topics
    places = {(topic, index) for topic in topics for index in range(known.get(topic, 0))}
    rows: dict[Place, PartitionLag] = {}
    if group is not None:
        (lag,) = reader.lags([replace(group, members=())])
        rows = {each.place: each for each in lag.partitions}
        places = places or set(rows)
    missing = places - set(rows)
    starts, ends = reader.starts(missing), reader.ends(missing)
    rows |= {
        place: PartitionLag(place, None, starts.get(place), ends.get(place)) for place in missing
    }
    return [rows[place] for place in sorted(places)]


def _selected(reader: ClusterReader, topics: Iterable[str]) -> set[Place]:
    found: set[Place] = set()
    for text in topics:
        topic, colon, numbers = text.partition(":")
        count = reader.topics.get(topic)
        if not count:
            raise unknown_topic(topic)
        if colon and not re.fullmatch(r"[0-9]{1,9}(,[0-9]{1,9})*", numbers):
            raise UsageFailure(f"{text!r} names no partitions; give TOPIC:0,3,5")
        chosen = [int(each) for each in numbers.split(",")] if colon else list(range(count))
        if max(chosen) >= count:
            raise Failure(f"topic {topic} has {count} partitions: there is no {max(chosen)}")
        found |= {(topic, each) for each in chosen}
    return found


def _targets(reader: ClusterReader, places: Iterable[Place], to: str) -> dict[Place, int]:
    position = parse_position(to, int(time.time() * 1000))
    places = list(places)
    starts, ends = reader.starts(places), reader.ends(places)
    _check_answered(places, ends)
    at_time: Mapping[Place, int] = {}
    if position.anchor is Anchor.time:
        at_time = list_offsets(reader.link, reader.leaders, places, position.number)
    return reset.targets(position, starts, ends, at_time)


def _check_answered(places: Iterable[Place], ends: Mapping[Place, int]) -> None:
    """All or nothing: a group that was half moved would be hard to understand."""
    missing = sorted(set(places) - set(ends))
    if missing:
        topic, partition = missing[0]
        raise Failure(
            f"{topic}-{partition} has no leader that answers; `penstock doctor` says what is "
            "offline, and --topic leaves it out"
        )


def _timed(reader: ClusterReader, steps: reset.Plan) -> reset.Plan:
    places = [each.place for each in steps]
    starts, ends = reader.starts(places), reader.ends(places)
    times = read_times(reader.link, reader.leaders, reset.spots(steps, ends))
    return reset.timed(reset.bounded(steps, starts, ends), times)
