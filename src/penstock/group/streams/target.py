"""The group's topology and epoch, and its target assignment: what every member shall have."""

from __future__ import annotations

from penstock.group.consumer.topic import metadata_hash
from penstock.group.streams.assignor import StickyAssignment, Subject
from penstock.group.streams.check import invalid
from penstock.group.streams.configure import ConfiguredTopology, configure
from penstock.group.streams.draft import StreamsDraft
from penstock.group.streams.group import NOT_VALIDATED
from penstock.group.streams.record import (
    epoch_record,
    target_epoch_record,
    target_record,
    topology_record,
)
from penstock.group.streams.setting import STANDBY_REPLICAS, StreamsSettings
from penstock.group.streams.status import StatusCode
from penstock.group.streams.task import TaskSet
from penstock.group.streams.topology import is_same, kept_topology
from penstock.protocol.messages.streams_group_heartbeat import Topology


def take_topology(draft: StreamsDraft, told: Topology | None) -> None:
    """The first member to come says what the topology is; the others have the same or an older
    one."""
    if told is None:
        return
    kept = draft.group.topology
    new = kept_topology(told)
    if kept is None:
        draft.write(topology_record(draft.group_id, new))
        draft.configured = None
    elif kept.epoch <= new.epoch and not is_same(kept, new):
        raise invalid("Topology updates are not supported yet.")


def check_topics(draft: StreamsDraft) -> ConfiguredTopology:
    """What the topology comes to; looked at anew when one of its topics has changed."""
    group, configured = draft.group, draft.configured
    assert group.topology is not None
    if configured is None or group.must_check_topics:
        configured = configure(group.topology, draft.topics)
        draft.configured = configured
        draft.checked_topics = True
    return configured


def bump_epoch(draft: StreamsDraft, must_bump: bool, settings: StreamsSettings) -> None:
    """A new epoch if the members changed, or else if their topics or the settings did."""
    group = draft.group
    assert draft.configured is not None
    assert group.topology is not None
    found = group.metadata_hash
    if draft.checked_topics:
        found = metadata_hash(draft.topics, group.required)
    validated = group.topology.epoch if draft.configured.is_ready else NOT_VALIDATED
    now = (found, validated, settings.configs)
    if must_bump or now != (group.metadata_hash, group.validated_epoch, group.configs):
        draft.write(epoch_record(draft.group_id, group.epoch + 1, *now))


def update_target(draft: StreamsDraft, settings: StreamsSettings) -> None:
    """Assigns anew if the group is in a new epoch: not before the initial delay is over, and not
    more often than the interval, so that members that come together share one assignment."""
    if draft.delayed_until_ms is not None:
        draft.tell(
            StatusCode.ASSIGNMENT_DELAYED,
            "Assignment delayed due to the configured initial rebalance delay.",
        )
    elif draft.group.assignment_epoch < draft.group.epoch:
        if _may_assign(draft, settings.assignment_interval_ms):
            assign(draft)
        else:
            draft.tell(
                StatusCode.ASSIGNMENT_DELAYED,
                "Assignment delayed due to the configured assignment interval.",
            )


def assign(draft: StreamsDraft) -> None:
    """With the settings that the group's epoch was written with."""
    group, configured = draft.group, draft.configured
    assert configured is not None
    targets = dict.fromkeys(group.members, TaskSet())
    if configured.is_ready:
        subjects = {
            member_id: Subject(one.process_id, group.target_of(member_id))
            for member_id, one in group.members.items()
        }
        standby_count = int(group.configs.get(STANDBY_REPLICAS, "0"))
        targets = StickyAssignment(subjects, configured.subtopologies, standby_count).assign()
    for member_id, target in targets.items():
        if target != group.targets.get(member_id):
            draft.write(target_record(draft.group_id, member_id, target))
    draft.write(target_epoch_record(draft.group_id, group.epoch, draft.now_ms))


def goal_of(draft: StreamsDraft, member_id: str) -> TaskSet:
    if draft.delayed_until_ms is not None:
        return TaskSet()
    return draft.group.target_of(member_id)


def _may_assign(draft: StreamsDraft, interval_ms: int) -> bool:
    since_ms = draft.group.assignment_timestamp_ms
    return not since_ms <= draft.now_ms < since_ms + interval_ms or since_ms == 0
