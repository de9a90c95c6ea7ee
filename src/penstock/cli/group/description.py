"""A group as brokers describe it, of any protocol, as one kind of value."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.cli.group.state import Group, Member, Place
from penstock.model.error import ProtocolError
from penstock.protocol.codec import decode
from penstock.protocol.messages import consumer_group_describe as consumer
from penstock.protocol.messages import describe_groups as classic
from penstock.protocol.messages import share_group_describe as share
from penstock.protocol.messages import streams_group_describe as streams
from penstock.protocol.messages.records.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
)
from penstock.protocol.messages.records.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
)

_VERSION_BYTES = 2
_CLASSIC_MEMBER = 0


def classic_group(described: classic.DescribedGroup, broker: int) -> Group:
    return Group(
        described.group_id,
        "classic",
        described.group_state,
        broker,
        described.protocol_data,
        tuple(_classic_member(each) for each in described.members),
    )


def consumer_group(described: consumer.DescribedGroup, broker: int) -> Group:
    return Group(
        described.group_id,
        "consumer",
        described.group_state,
        broker,
        described.assignor_name,
        tuple(_consumer_member(each) for each in described.members),
    )


def streams_group(described: streams.DescribedGroup, broker: int) -> Group:
    """Its tasks stand for the partitions of what they read."""
    topology = described.topology
    sources = {
        one.subtopology_id: (
            *one.source_topics,
            *(each.name for each in one.repartition_source_topics),
        )
        for one in (topology.subtopologies if topology is not None else None) or ()
    }
    return Group(
        described.group_id,
        "streams",
        described.group_state,
        broker,
        "sticky",
        tuple(_streams_member(each, sources) for each in described.members),
    )


def share_group(described: share.DescribedGroup, broker: int) -> Group:
    return Group(
        described.group_id,
        "share",
        described.group_state,
        broker,
        described.assignor_name,
        tuple(_share_member(each) for each in described.members),
    )


def _share_member(member: share.Member) -> Member:
    places = (
        (topic.topic_name, partition)
        for topic in member.assignment.topic_partitions
        for partition in topic.partitions
    )
    return Member(
        member.member_id,
        None,
        member.client_id,
        member.client_host,
        tuple(member.subscribed_topic_names),
        tuple(sorted(places)),
        is_classic=False,
    )


def _streams_member(member: streams.Member, sources: Mapping[str, tuple[str, ...]]) -> Member:
    places = (
        (topic, partition)
        for tasks in member.assignment.active_tasks
        for topic in sources.get(tasks.subtopology_id, ())
        for partition in tasks.partitions
    )
    return Member(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        tuple(sorted(topic for topics in sources.values() for topic in topics)),
        tuple(sorted(places)),
        is_classic=False,
    )


def _classic_member(member: classic.DescribedGroupMember) -> Member:
    return Member(
        member.member_id,
        member.group_instance_id,
        member.client_id,
        member.client_host,
        _subscribed(bytes(member.member_metadata)),
        _assigned(bytes(member.member_assignment)),
        is_classic=True,
    )


def _consumer_member(member: consumer.Member) -> Member:
    regex = (member.subscribed_topic_regex,) if member.subscribed_topic_regex else ()
    places = (
        (topic.topic_name, partition)
        for topic in member.assignment.topic_partitions
        for partition in topic.partitions
    )
    return Member(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        (*member.subscribed_topic_names, *regex),
        tuple(sorted(places)),
        is_classic=member.member_type == _CLASSIC_MEMBER,
    )


def _subscribed(data: bytes) -> tuple[str, ...]:
    """The first version of what consumers write is the beginning of all later ones."""
    try:
        found, _ = decode(ConsumerProtocolSubscription, 0, data, _VERSION_BYTES)
    except ProtocolError:
        return ()
    return tuple(sorted(found.topics))


def _assigned(data: bytes) -> tuple[Place, ...]:
    try:
        found, _ = decode(ConsumerProtocolAssignment, 0, data, _VERSION_BYTES)
    except ProtocolError:
        return ()
    return tuple(
        sorted((each.topic, one) for each in found.assigned_partitions for one in each.partitions)
    )
