"""How far behind a group may be: limits in seconds for topics and for groups.

They are records of a compacted topic, whose keys and values are made and read here. Where both the
topic and the group have a limit, the stricter one holds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, cast, get_args

SLA_TOPIC: Final = "__penstock_sla"

SlaKind = Literal["topic", "group"]


class SlaKey(NamedTuple):
    kind: SlaKind
    name: str

    def encode(self) -> bytes:
        return f"{self.kind}:{self.name}".encode()


Slas = Mapping[SlaKey, float]
"""Seconds."""


def encode_limit(seconds: float) -> bytes:
    return json.dumps({"seconds": seconds}).encode()


def decode_sla(key: bytes | None, value: bytes | None) -> tuple[SlaKey, float | None] | None:
    """The limit is None where it was taken away; nothing at all of a record that is not ours."""
    try:
        kind, _, name = (key or b"").decode().partition(":")
        seconds = None if value is None else float(json.loads(value)["seconds"])
    except (ValueError, KeyError, TypeError):
        return None
    if kind not in get_args(SlaKind) or not name:
        return None
    return SlaKey(cast("SlaKind", kind), name), seconds


def limit_of(slas: Slas, group: str, topic: str) -> float | None:
    limits = (slas.get(SlaKey("group", group)), slas.get(SlaKey("topic", topic)))
    return min((each for each in limits if each is not None), default=None)
