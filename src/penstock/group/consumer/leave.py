"""Members go: of themselves, because they were not heard of, or because they held others up."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.group.consumer.draft import Draft
from penstock.group.consumer.member import ConsumerMember
from penstock.group.consumer.record import (
    epoch_record,
    group_tombstones,
    member_tombstones,
    regex_tombstone,
)
from penstock.group.consumer.topic import metadata_hash


def remove_members(draft: Draft, members: Sequence[ConsumerMember]) -> None:
    """What they had is free at once; a new epoch has it assigned with the next heartbeat."""
    group_id = draft.group_id
    for member in members:
        draft.write(*member_tombstones(group_id, member.member_id))
        draft.cancel_all(member.member_id)
    unused = sorted(draft.group.matched.keys() - draft.group.regexes)
    draft.write(*(regex_tombstone(group_id, regex) for regex in unused))
    found = metadata_hash(draft.topics, draft.group.subscribed)
    draft.write(epoch_record(group_id, draft.group.epoch + 1, found))


def remove_group(draft: Draft) -> None:
    """Every trace of it."""
    group_id = draft.group_id
    for member_id in list(draft.group.members):
        draft.write(*member_tombstones(group_id, member_id))
    draft.write(*(regex_tombstone(group_id, regex) for regex in sorted(draft.group.matched)))
    draft.write(*group_tombstones(group_id))
