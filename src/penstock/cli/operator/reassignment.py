"""Moves over the protocol: begun, cancelled. The controller carries them out by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from penstock.cli.operator.link import Link, check
from penstock.cli.operator.plan import Move
from penstock.cli.operator.setting import alter_settings
from penstock.cli.operator.state import ClusterState, TopicPartition
from penstock.cli.operator.throttle import throttle_changes
from penstock.model.error import ErrorCode
from penstock.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)


def moves_under_way(state: ClusterState) -> list[Move]:
    return [
        Move(
            each.place,
            tuple(one for one in each.replicas if one not in each.adding),
            each.target,
        )
        for each in sorted(state.partitions.values(), key=lambda one: one.place)
        if each.moving
    ]


def begin_moves(link: Link, state: ClusterState, moves: Sequence[Move], rate: int | None) -> None:
    """The throttle first, over all moves that will then be under way."""
    if rate is not None:
        begun = {move.place: move for move in moves_under_way(state)}
        # A move that is replaced still copies from what was there before it.
        begun |= {
            move.place: Move(move.place, begun[move.place].before, move.after)
            if move.place in begun
            else move
            for move in moves
        }
        alter_settings(link, throttle_changes(begun.values(), rate))
    if moves:
        _alter(link, {move.place: list(move.after) for move in moves})


def cancel_moves(link: Link, places: Iterable[TopicPartition]) -> None:
    """Back to the replicas from before. A move that ended meanwhile is no error."""
    _alter(link, dict.fromkeys(places), passable={ErrorCode.NO_REASSIGNMENT_IN_PROGRESS})


def _alter(
    link: Link,
    replicas: Mapping[TopicPartition, list[int] | None],
    passable: Iterable[ErrorCode] = (),
) -> None:
    topics: dict[str, ReassignableTopic] = {}
    for place, wanted in replicas.items():
        topic = topics.setdefault(place.topic, ReassignableTopic(name=place.topic))
        topic.partitions.append(
            ReassignablePartition(partition_index=place.partition, replicas=wanted)
        )
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=link.timeout_ms, topics=list(topics.values())
    )
    answer = link.call(request, AlterPartitionReassignmentsResponse)
    check(answer.error_code, answer.error_message)
    for topic_answer in answer.responses:
        for each in topic_answer.partitions:
            if each.error_code not in tuple(passable):
                place = TopicPartition(topic_answer.name, each.partition_index)
                check(each.error_code, each.error_message, str(place))
