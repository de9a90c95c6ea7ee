"""Limits of lag, kept in a compacted topic of the cluster."""

from __future__ import annotations

import re
from typing import Final

from penstock.cli.failure import UsageFailure
from penstock.cli.group.own_topic import OwnTopic
from penstock.cli.operator.link import Link
from penstock.model.sla import SLA_TOPIC, SlaKey, Slas, decode_sla, encode_limit

_UNIT_S: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def read_slas(link: Link) -> Slas:
    found: dict[SlaKey, float] = {}
    for key, value in OwnTopic(link, SLA_TOPIC).read().items():
        decoded = decode_sla(key, value)
        if decoded is not None and decoded[1] is not None:
            found[decoded[0]] = decoded[1]
    return found


def write_sla(link: Link, key: SlaKey, seconds: float | None) -> None:
    """None takes it away."""
    value = None if seconds is None else encode_limit(seconds)
    OwnTopic(link, SLA_TOPIC).write({key.encode(): value})


def parse_duration(text: str) -> float:
    """`30s`, `5m`, `1h30m`; seconds."""
    parts = re.findall(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise UsageFailure(f"{text!r} is no duration; give 30s, 5m, 1h30m or 2d")
    seconds = sum(float(number) * _UNIT_S[unit] for number, unit in parts)
    if not 0 < seconds < 1e10:
        raise UsageFailure(f"{text!r} is no limit; give more than 0 seconds")
    return seconds
