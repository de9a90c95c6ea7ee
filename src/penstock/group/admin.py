"""What admins ask of groups: list, describe, delete."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.group.caller import Caller
from penstock.group.classic.group import ClassicGroup
from penstock.group.classic.view import described, described_missing, listed
from penstock.group.kind import AnyGroup, Groups, tombstones_of
from penstock.group.offset.delete import tombstones_of_group
from penstock.group.offset.store import OffsetStore
from penstock.group.record import GroupEntry, GroupRecord
from penstock.group.share.group import ShareGroup
from penstock.group.share.view import listed as listed_share
from penstock.group.view import listed_modern
from penstock.machine import Decision
from penstock.model.error import ErrorCode
from penstock.protocol.messages.delete_groups import DeletableGroupResult
from penstock.protocol.messages.describe_groups import DescribedGroup
from penstock.protocol.messages.list_groups import ListedGroup, ListGroupsRequest


class GroupAdmin:
    __slots__ = ("_groups", "_offsets")

    def __init__(self, groups: Groups, offsets: OffsetStore) -> None:
        self._groups = groups
        self._offsets = offsets

    def decide_list(self, request: ListGroupsRequest) -> Decision[GroupEntry, list[ListedGroup]]:
        """Of this partition; a broker's answer joins those of all its partitions."""
        states = {one.strip().lower() for one in request.states_filter}
        types = {one.strip().lower() for one in request.types_filter}
        groups = [
            listed(group) if isinstance(group, ClassicGroup) else listed_modern(group)
            for group in self._groups
        ]
        groups += [listed_share(group) for group in self._groups.share]
        return Decision(
            (),
            [
                one
                for one in groups
                if (not states or one.group_state.lower() in states)
                and (not types or one.group_type in types)
            ],
        )

    def decide_describe(
        self, group_ids: Sequence[str], caller: Caller
    ) -> Decision[GroupEntry, list[DescribedGroup]]:
        found = []
        for group_id in group_ids:
            group = self._groups.find(group_id)
            if group is None:
                is_share = group_id in self._groups.share
                reason = "is not a classic group" if is_share else "not found"
                found.append(described_missing(group_id, caller.api_version, reason))
            elif not isinstance(group, ClassicGroup):
                reason = "is not a classic group"
                found.append(described_missing(group_id, caller.api_version, reason))
            else:
                found.append(described(group))
        return Decision((), found)

    def decide_delete(
        self, group_ids: Sequence[str]
    ) -> Decision[GroupEntry, list[DeletableGroupResult]]:
        """A group goes with all its offsets, or not at all."""
        records: list[GroupRecord] = []
        results = []
        for group_id in dict.fromkeys(group_ids):
            group = self._groups.find(group_id) or self._groups.share.find(group_id)
            error = _delete_error(group)
            if group is not None and error is ErrorCode.NONE:
                records += tombstones_of_group(self._offsets, group_id)
                records += tombstones_of(group)
            results.append(DeletableGroupResult(group_id=group_id, error_code=error))
        return Decision(records, results)


def _delete_error(group: AnyGroup | ShareGroup | None) -> ErrorCode:
    if group is None:
        return ErrorCode.GROUP_ID_NOT_FOUND
    return ErrorCode.NONE if group.is_empty else ErrorCode.NON_EMPTY_GROUP
