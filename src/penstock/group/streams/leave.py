"""Members go: of themselves, because they were not heard of, or because they held others up."""

from __future__ import annotations

from penstock.group.streams.draft import StreamsDraft
from penstock.group.streams.member import StreamsMember
from penstock.group.streams.record import epoch_record, member_tombstones


def remove_member(draft: StreamsDraft, member: StreamsMember) -> None:
    """What it had is free at once; a new epoch has it assigned with the next heartbeat."""
    group = draft.group
    draft.write(*member_tombstones(draft.group_id, member.member_id))
    draft.write(
        epoch_record(
            draft.group_id,
            group.epoch + 1,
            group.metadata_hash,
            group.validated_epoch,
            group.configs,
        )
    )
    draft.cancel_all(member.member_id)
    draft.endpoint_epoch += member.endpoint is not None
