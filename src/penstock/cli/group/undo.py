"""Former offsets of groups whose offsets were changed, kept in a compacted topic of the cluster."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, NamedTuple

from penstock.cli.group.own_topic import OwnTopic
from penstock.cli.group.state import Place
from penstock.cli.operator.link import Link

UNDO_TOPIC: Final = "__penstock_offset_resets"
KEPT: Final = 10
"""Changes of one group that can be undone, one after the other."""


class FormerOffsets(NamedTuple):
    changed_ms: int
    why: str
    """The command that changed them."""
    offsets: Mapping[Place, int | None]
    """As they were before; None where there was none."""


def read_former(link: Link, group: str) -> list[FormerOffsets]:
    """The last change comes last."""
    value = OwnTopic(link, UNDO_TOPIC).read().get(group.encode())
    return [] if value is None else decode(value)


def remember(link: Link, group: str, former: FormerOffsets) -> None:
    _write(link, group, [*read_former(link, group), former][-KEPT:])


def forget_last(link: Link, group: str) -> None:
    _write(link, group, read_former(link, group)[:-1])


def _write(link: Link, group: str, changes: list[FormerOffsets]) -> None:
    value = encode(changes) if changes else None
    OwnTopic(link, UNDO_TOPIC).write({group.encode(): value})


def encode(changes: list[FormerOffsets]) -> bytes:
    document = [
        {
            "changed_ms": each.changed_ms,
            "why": each.why,
            "offsets": [[*place, offset] for place, offset in sorted(each.offsets.items())],
        }
        for each in changes
    ]
    return json.dumps(document).encode()


def decode(value: bytes) -> list[FormerOffsets]:
    return [
        FormerOffsets(
            int(each["changed_ms"]),
            str(each["why"]),
            {
                (str(topic), int(partition)): None if offset is None else int(offset)
                for topic, partition, offset in each["offsets"]
            },
        )
        for each in json.loads(value)
    ]
