"""Places in topics as a person names them: earliest, latest, offsets as JSON, a time, or how long
ago. Here they become offsets, asked of the broker once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Literal

from confluent_kafka import KafkaException

from penstock.pipelines.error import RunError
from penstock.pipelines.kafka import admin, end_offsets, first_offsets, time_offsets
from penstock.pipelines.run_settings import RunSettings

Offsets = dict[tuple[str, int], int]
Place = Literal["earliest", "latest"] | int | Offsets
"""A number is a time, in milliseconds."""

_AGO = re.compile(r"-(\d+(?:\.\d+)?)\s*([smhd])")
_UNIT_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_EARLIEST, _LATEST = -2, -1


def parse_place(text: str, now_ms: int) -> Place:
    if text in ("earliest", "latest"):
        return text  # type: ignore[return-value]
    if text.startswith("{"):
        return _offsets(text)
    ago = _AGO.fullmatch(text)
    if ago is not None:
        return now_ms - int(float(ago[1]) * _UNIT_MS[ago[2]])
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise RunError(
            f"{text!r} is no place in a topic: say earliest, latest, a time such as"
            " 2026-01-31T12:00:00, how long ago (-2h), or offsets as JSON such as"
            ' {"orders": {"0": 100}}'
        ) from None
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)


def _offsets(text: str) -> Offsets:
    try:
        said: dict[str, dict[str, int]] = json.loads(text)
        return {
            (topic, int(partition)): int(offset)
            for topic, partitions in said.items()
            for partition, offset in partitions.items()
        }
    except (ValueError, AttributeError, TypeError):
        raise RunError(f'{text} are no offsets: write {{"orders": {{"0": 100}}}}') from None


def find_offsets(
    place: Place, places: Collection[tuple[str, int]], settings: RunSettings
) -> Offsets:
    """The offset in each partition. At a time: of the first record that is not older."""
    client = admin(settings.client())
    try:
        if place == "earliest":
            return first_offsets(client, places)
        if place == "latest":
            return end_offsets(client, places)
        if isinstance(place, int):
            found, ends = time_offsets(client, places, place), end_offsets(client, places)
            return {each: ends[each] if found[each] < 0 else found[each] for each in places}
        assert not isinstance(place, str)
        first, ends = first_offsets(client, places), end_offsets(client, places)
    except KafkaException as error:
        raise RunError(f"the broker does not tell the offsets: {error.args[0].str()}") from error
    by_sign: dict[int, Mapping[tuple[str, int], int]] = {_EARLIEST: first, _LATEST: ends}
    missing = sorted(set(places) - set(place))
    if missing:
        names = ", ".join(f"{topic}-{partition}" for topic, partition in missing)
        raise RunError(f"the offsets do not name every partition: {names} are missing")
    return {each: by_sign.get(place[each], place)[each] for each in places}
