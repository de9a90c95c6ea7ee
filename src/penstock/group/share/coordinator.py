"""The requests and timers of share groups, each turned into a decision about one group.

Changes no group itself: all it decides is in the records. That the state of a share partition
is made, or deleted, is others' work, of which it is told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from types import MappingProxyType
from typing import NamedTuple

from penstock.group.caller import Caller
from penstock.group.config import GroupConfig
from penstock.group.consumer.setting import Overrides, share_settings_of
from penstock.group.consumer.topic import TopicView, metadata_hash
from penstock.group.record import GroupEntry, GroupRecord
from penstock.group.share.draft import ShareDraft
from penstock.group.share.group import ShareGroup, ShareGroups
from penstock.group.share.heartbeat import (
    check_request,
    heartbeat,
    known_member,
    remove_member,
)
from penstock.group.share.member import JOINING_EPOCH, LEAVING_EPOCH
from penstock.group.share.record import SharedTopics, StateTopics, epoch_record, state_record
from penstock.group.share.state_topic import (
    being_deleted,
    with_deleting,
    with_initialized,
    with_initializing,
    without_topics,
)
from penstock.group.share.view import described, described_missing
from penstock.group.timer import SessionTimer
from penstock.machine import Decision
from penstock.model.error import ApiError, ErrorCode
from penstock.model.id import TopicId
from penstock.protocol.messages.share_group_describe import DescribedGroup
from penstock.protocol.messages.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)


class Beat(NamedTuple):
    """The answer to a heartbeat, and what is still without state: somebody is to see to that."""

    response: ShareGroupHeartbeatResponse
    initializing: SharedTopics = MappingProxyType({})
    epoch: int = 0
    """Of the group: the state of a partition begins in it."""


class StateAnswer(NamedTuple):
    """What is known of the state of a group's share partitions; the error if it is not for now."""

    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    topics: StateTopics = StateTopics()
    epoch: int = 0


class ShareCoordinator:
    __slots__ = ("_config", "_is_other", "_overrides", "_topics", "groups")

    def __init__(
        self,
        config: GroupConfig,
        groups: ShareGroups,
        topics: TopicView,
        overrides: Overrides,
        is_other: Callable[[str], bool],
    ) -> None:
        self.groups = groups
        self._config = config
        self._topics = topics
        self._overrides = overrides
        self._is_other = is_other
        """Whether there is a group of that name of another kind."""

    # --- members ---

    def decide_heartbeat(
        self, request: ShareGroupHeartbeatRequest, caller: Caller, now_ms: int
    ) -> Decision[GroupEntry, Beat]:
        try:
            check_request(request)
            draft = self._open(request.group_id, request.member_epoch == JOINING_EPOCH, now_ms)
            if request.member_epoch == LEAVING_EPOCH:
                remove_member(draft, known_member(draft.group, request.member_id))
                reply = ShareGroupHeartbeatResponse(
                    member_id=request.member_id, member_epoch=LEAVING_EPOCH
                )
                return draft.decision(Beat(reply))
            overrides = self._overrides(request.group_id)
            settings = share_settings_of(self._config, overrides)
            reply = heartbeat(draft, request, caller, settings, self._config)
            topics = draft.group.state_topics.initializing
            return draft.decision(Beat(reply, topics, draft.group.epoch))
        except ApiError as error:
            refused = ShareGroupHeartbeatResponse(error_code=error.code, error_message=str(error))
            return Decision((), Beat(refused))

    def expire(self, key: SessionTimer, now_ms: int) -> Decision[GroupEntry, None]:
        group = self.groups.find(key.group_id)
        member = None if group is None else group.members.get(key.member_id)
        if group is None or member is None:
            return Decision((), None)
        draft = self._draft(group, now_ms)
        remove_member(draft, member)
        return draft.decision(None)

    def loaded(self, group: ShareGroup, now_ms: int) -> ShareDraft:
        """Every member gets a whole session to be heard of."""
        draft = self._draft(group, now_ms)
        settings = share_settings_of(self._config, self._overrides(group.group_id))
        for member_id in group.members:
            draft.start_session(member_id, settings.session_timeout_ms)
        return draft

    def decide_topics_changed(self, names: Collection[str]) -> Decision[GroupEntry, None]:
        changed = [one for one in self.groups if not one.subscribed.isdisjoint(names)]

        def adopt() -> None:
            for group in changed:
                group.must_check_topics = True

        return Decision((), None, adopt=adopt)

    def decide_topics_deleted(self, topic_ids: Collection[TopicId]) -> Decision[GroupEntry, None]:
        records: list[GroupRecord] = []
        for group in self.groups:
            left = without_topics(group.state_topics, topic_ids)
            if left != group.state_topics:
                records.append(state_record(group.group_id, left))
        return Decision(records, None)

    # --- the state of share partitions ---

    def decide_initialized(
        self, group_id: str, topics: SharedTopics, now_ms: int
    ) -> Decision[GroupEntry, None]:
        """They have state now: members may read them from the next epoch on."""
        group = self.groups.find(group_id)
        if group is None:
            return Decision((), None)
        draft = self._draft(group, now_ms)
        after = with_initialized(group.state_topics, topics)
        if after == group.state_topics:
            return Decision((), None)
        draft.write(state_record(group_id, after))
        found = metadata_hash(self._topics, group.subscribed)
        draft.write(epoch_record(group_id, group.epoch + 1, found))
        return draft.decision(None)

    def decide_state(
        self, group_id: str, *, must_be_empty: bool
    ) -> Decision[GroupEntry, StateAnswer]:
        return Decision((), self._state(group_id, must_be_empty))

    def decide_altering(
        self, group_id: str, topics: SharedTopics, now_ms: int
    ) -> Decision[GroupEntry, StateAnswer]:
        """They are about to begin anew, in a new epoch; a new group is made."""
        found = self._state(group_id, must_be_empty=True)
        is_new = group_id not in self.groups and not self._is_other(group_id)
        if found.error is not ErrorCode.NONE and not is_new:
            return Decision((), found)
        group = self.groups.find(group_id) or ShareGroup(group_id)
        draft = self._draft(group, now_ms)
        draft.write(epoch_record(group_id, group.epoch + 1, group.metadata_hash))
        draft.write(state_record(group_id, with_initializing(group.state_topics, topics)))
        return draft.decision(StateAnswer(epoch=group.epoch + 1))

    def decide_deleting(
        self, group_id: str, topic_ids: Collection[TopicId] | None
    ) -> Decision[GroupEntry, StateAnswer]:
        """Of these topics, or of all: the state is about to be deleted. Tells what there was, and
        what is left of a deletion that failed."""
        found = self._state(group_id, must_be_empty=True)
        if found.error is not ErrorCode.NONE:
            return Decision((), found)
        before = found.topics
        known = {*before.initializing, *before.initialized}
        asked = known if topic_ids is None else known.intersection(topic_ids)
        left = with_initialized(before, being_deleted(before, self._topics))
        told = found._replace(topics=left)
        after = with_deleting(before, asked)
        if after == before:
            return Decision((), told)
        return Decision([state_record(group_id, after)], told)

    def decide_deleted(
        self, group_id: str, topic_ids: Collection[TopicId]
    ) -> Decision[GroupEntry, None]:
        group = self.groups.find(group_id)
        if group is None:
            return Decision((), None)
        after = without_topics(group.state_topics, topic_ids)
        return Decision([state_record(group_id, after)], None)

    def _state(self, group_id: str, must_be_empty: bool) -> StateAnswer:
        group = self.groups.find(group_id)
        if group is None:
            return StateAnswer(ErrorCode.GROUP_ID_NOT_FOUND, self._missing(group_id))
        if must_be_empty and not group.is_empty:
            return StateAnswer(ErrorCode.NON_EMPTY_GROUP, "The group is not empty.")
        return StateAnswer(topics=group.state_topics)

    # --- admins ---

    def decide_describe(
        self, group_ids: Sequence[str]
    ) -> Decision[GroupEntry, list[DescribedGroup]]:
        found = []
        for group_id in group_ids:
            group = self.groups.find(group_id)
            if group is None:
                found.append(described_missing(group_id, self._is_other(group_id)))
            else:
                found.append(described(group, self._topics))
        return Decision((), found)

    # --- the group ---

    def _draft(self, group: ShareGroup, now_ms: int) -> ShareDraft:
        return ShareDraft(group, self.groups, self._topics, now_ms)

    def _open(self, group_id: str, may_make: bool, now_ms: int) -> ShareDraft:
        group = self.groups.find(group_id)
        if group is None:
            if self._is_other(group_id) or not may_make:
                raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, self._missing(group_id))
            group = ShareGroup(group_id)
        return self._draft(group, now_ms)

    def _missing(self, group_id: str) -> str:
        reason = "is not a share group" if self._is_other(group_id) else "not found"
        return f"Group {group_id} {reason}."
