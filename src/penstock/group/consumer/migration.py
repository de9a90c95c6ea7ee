"""A group changes its protocol while its members go on: from classic to consumer when the first
member of the new protocol comes, and back when the last one goes.

Members of the classic protocol keep all they told of themselves, so that they can be served in
either kind of group.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from penstock.group.classic.group import ClassicGroup
from penstock.group.classic.member import Member
from penstock.group.classic.reply import join_refused, sync_refused
from penstock.group.classic.state import GroupState
from penstock.group.classic.subscription import CONSUMER_PROTOCOL_TYPE
from penstock.group.config import GroupConfig
from penstock.group.consumer.check import group_not_found
from penstock.group.consumer.draft import Draft
from penstock.group.consumer.group import ConsumerGroup
from penstock.group.consumer.member import ClassicSide, ConsumerMember, partitions_of
from penstock.group.consumer.record import (
    current_record,
    epoch_record,
    member_record,
    target_epoch_record,
    target_record,
)
from penstock.group.consumer.target import partition_counts
from penstock.group.consumer.topic import TopicView, metadata_hash
from penstock.group.record import group_tombstone
from penstock.group.timer import JoinTimer, SessionTimer, SyncTimer
from penstock.model.error import ErrorCode, ProtocolError
from penstock.model.id import TopicId
from penstock.protocol.consumer_bytes import (
    decode_assignment,
    decode_subscription,
    encode_assignment,
)

# --- from classic to consumer ---


def check_upgrade(group: ClassicGroup, config: GroupConfig) -> None:
    reason = None
    if not config.can_upgrade:
        reason = "online upgrade is disabled"
    elif not group.uses_consumer_protocol:
        reason = "its members are no consumers"
    elif len(group.members) > config.group_consumer_max_size:
        reason = "it is larger than a consumer group may be"
    if reason is not None:
        raise group_not_found(f"Classic group {group.group_id} stays classic: {reason}.")


def upgrade(draft: Draft, classic: ClassicGroup) -> None:
    """`draft` is of a new group. Whoever waits in the old one is told to join again."""
    group_id = classic.group_id
    members = _consumer_members(classic, draft.topics)
    draft.write(*(member_record(group_id, one) for one in members))
    found = metadata_hash(draft.topics, draft.group.subscribed)
    known = found if _has_settled(draft, classic, members) else 0
    draft.write(epoch_record(group_id, classic.generation, known))
    for one in members:
        draft.write(target_record(group_id, one.member_id, partitions_of(one.owned)))
    draft.write(target_epoch_record(group_id, classic.generation, draft.now_ms))
    draft.write(*(current_record(group_id, one) for one in members))
    draft.write_first(group_tombstone(group_id))
    _release_parked(draft, classic)
    for member in classic.members.values():
        draft.start_session(member.member_id, member.session_timeout_ms)


def _has_settled(draft: Draft, classic: ClassicGroup, members: Iterable[ConsumerMember]) -> bool:
    """Not in the midst of a rebalance: all is assigned, and all know it. Otherwise there must be a
    new epoch, which a static member that takes its old place as it was does not bring about."""
    assigned: dict[TopicId, set[int]] = {}
    for member in members:
        for topic_id, found in member.owned.items():
            assigned.setdefault(topic_id, set()).update(found)
    counts = partition_counts(draft.group, draft.topics)
    is_complete = all(len(assigned.get(one, ())) >= count for one, count in counts.items())
    return is_complete and classic.state is GroupState.STABLE


def _release_parked(draft: Draft, classic: ClassicGroup) -> None:
    error = ErrorCode.REBALANCE_IN_PROGRESS
    for member_id, ticket in classic.join_tickets.items():
        draft.answers.append((ticket, join_refused(error, member_id)))
    for ticket in classic.sync_tickets.values():
        draft.answers.append((ticket, sync_refused(error)))
    draft.cancel(JoinTimer(classic.group_id))
    draft.cancel(SyncTimer(classic.group_id))
    forget_pending(draft, classic)


def forget_pending(draft: Draft, classic: ClassicGroup) -> None:
    """Ids that were handed out and not used yet are as good in the new group, without a time."""
    for member_id in classic.pending_join:
        draft.cancel(SessionTimer(classic.group_id, member_id))


def _consumer_members(classic: ClassicGroup, topics: TopicView) -> list[ConsumerMember]:
    taken: set[tuple[TopicId, int]] = set()
    try:
        return [
            _consumer_member(classic, member, topics, taken) for member in classic.members.values()
        ]
    except ProtocolError as error:
        raise group_not_found(f"Classic group {classic.group_id} stays classic: {error}.") from None


def _consumer_member(
    classic: ClassicGroup, member: Member, topics: TopicView, taken: set[tuple[TopicId, int]]
) -> ConsumerMember:
    subscription = decode_subscription(_metadata_of(classic, member))
    assignment = decode_assignment(member.assignment)
    if assignment.user_data:
        raise ProtocolError("its assignor keeps data of its own, which would be lost")
    owned: dict[TopicId, dict[int, int]] = {}
    for one in assignment.assigned_partitions:
        topic = topics.get(one.topic)
        for partition in one.partitions if topic is not None else ():
            if topic is not None and (topic.topic_id, partition) not in taken:
                taken.add((topic.topic_id, partition))
                owned.setdefault(topic.topic_id, {})[partition] = classic.generation
    return ConsumerMember(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=subscription.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        topics=frozenset(subscription.topics),
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        classic=ClassicSide(member.session_timeout_ms, member.protocols),
        epoch=classic.generation,
        previous_epoch=classic.generation,
        owned=owned,
    )


def _metadata_of(classic: ClassicGroup, member: Member) -> bytes:
    """Before the first generation no protocol is chosen; the topics are the same in all."""
    if any(name == classic.protocol_name for name, _ in member.protocols):
        return member.metadata(classic.protocol_name)
    return member.protocols[0][1]


# --- from consumer to classic ---


def can_downgrade(group: ConsumerGroup, leaving: Collection[str], config: GroupConfig) -> bool:
    """Whether all who stay speak the classic protocol."""
    staying = [one for one in group.members.values() if one.member_id not in leaving]
    if not staying or any(one.classic is None for one in staying):
        return False
    return config.can_downgrade and len(staying) <= config.group_max_size


def classic_group(
    group: ConsumerGroup, leaving: Collection[str], topics: TopicView, now_ms: int
) -> ClassicGroup:
    made = ClassicGroup(
        group.group_id,
        state=GroupState.STABLE,
        state_timestamp_ms=now_ms,
        generation=group.epoch,
    )
    for one in group.members.values():
        if one.member_id not in leaving and one.classic is not None:
            made.add(_classic_member(one, one.classic), CONSUMER_PROTOCOL_TYPE)
    made.protocol_name = made.select_protocol()
    for member in list(made.members.values()):
        like = member.metadata(made.protocol_name)
        target = group.targets.get(member.member_id, {})
        made.assign(member, encode_assignment(named(target, topics), like))
    made.refresh_subscription()
    return made


def _classic_member(member: ConsumerMember, classic: ClassicSide) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        session_timeout_ms=classic.session_timeout_ms,
        protocols=classic.protocols,
    )


def named(partitions: Mapping[TopicId, Iterable[int]], topics: TopicView) -> dict[str, list[int]]:
    """Of topics that are gone there is nothing to read."""
    found = ((topics.name_of(topic_id), sorted(some)) for topic_id, some in partitions.items())
    return {name: some for name, some in found if name is not None}
