"""Changes of offsets that a group refuses because it has members."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from penstock.cli.failure import Failure
from penstock.cli.operator.link import check
from penstock.model.error import ErrorCode

HAS_MEMBERS: Final = (
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.STALE_MEMBER_EPOCH,
    ErrorCode.NON_EMPTY_GROUP,
    ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
)


class MembersAlive(Failure):
    """The group has members, and so nothing was changed."""


def members_alive(name: str, count: int = 0) -> MembersAlive:
    who = f"{count} member{'s' if count != 1 else ''}" if count else "members"
    return MembersAlive(
        f"group {name} has {who}, who would go on from where they are; stop them first, or add "
        "--stop-members: they leave, the offsets are set, and they join again"
    )


def check_all(name: str, codes: Iterable[tuple[str, int, int]]) -> None:
    """Of each topic and partition."""
    for topic, partition, code in codes:
        if code in HAS_MEMBERS:
            raise members_alive(name)
        check(code, what=f"group {name}, {topic}-{partition}")
