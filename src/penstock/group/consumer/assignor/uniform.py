"""Everybody gets as many partitions as everybody else, give or take one, and keeps what it can.

Where all members read the same topics that is a matter of counting. Where they do not, partitions
go to whoever of their readers has the fewest, and then move from the fullest to the emptiest reader
of a topic as long as that evens things out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.group.consumer.assignor.subject import Subject
from penstock.group.consumer.member import Partitions
from penstock.model.id import TopicId

Partition = tuple[TopicId, int]
Shares = dict[str, set[Partition]]


def assign_uniform(
    subjects: Mapping[str, Subject], counts: Mapping[TopicId, int]
) -> dict[str, Partitions]:
    if not subjects:
        return {}
    kept, left = _kept(subjects, counts)
    first = next(iter(subjects.values()))
    if all(one.topic_ids == first.topic_ids for one in subjects.values()):
        _fill_evenly(kept, left)
    else:
        _fill_unlike(kept, left, _readers(subjects, counts))
    return {member_id: _grouped(share) for member_id, share in kept.items()}


def _kept(
    subjects: Mapping[str, Subject], counts: Mapping[TopicId, int]
) -> tuple[Shares, list[Partition]]:
    """What members may keep, and what is nobody's."""
    free = {
        (topic_id, partition)
        for topic_id in {one for subject in subjects.values() for one in subject.topic_ids}
        for partition in range(counts.get(topic_id, 0))
    }
    kept: Shares = {}
    for member_id, subject in subjects.items():
        wanted = _flat(subject.target, subject.topic_ids)
        kept[member_id] = free & wanted
        free -= wanted
    return kept, sorted(free)


# --- all alike ---


def _fill_evenly(kept: Shares, left: list[Partition]) -> None:
    total = len(left) + sum(len(share) for share in kept.values())
    size, extra = divmod(total, len(kept))
    # Who already has more keeps it: the spare partitions need not move.
    order = sorted(kept, key=lambda member_id: -len(kept[member_id]))
    quotas = {member_id: size + (place < extra) for place, member_id in enumerate(order)}
    for member_id in order:
        over = len(kept[member_id]) - quotas[member_id]
        if over > 0:
            going = sorted(kept[member_id])[-over:]
            kept[member_id].difference_update(going)
            left += going
    left.reverse()
    for member_id in kept:
        while len(kept[member_id]) < quotas[member_id]:
            kept[member_id].add(left.pop())


# --- unlike subscriptions ---


def _fill_unlike(
    kept: Shares, left: Iterable[Partition], readers: Mapping[TopicId, list[str]]
) -> None:
    # Partitions few may read first: those who may read much take what remains.
    for partition in sorted(left, key=lambda one: (len(readers[one[0]]), one)):
        poorest = min(readers[partition[0]], key=lambda member_id: len(kept[member_id]))
        kept[poorest].add(partition)
    order = sorted(readers, key=lambda topic_id: (len(readers[topic_id]), topic_id))
    moved = True
    while moved:  # every move brings two shares closer, so it ends
        moved = False
        for topic_id in order:
            moved |= _even_out(kept, topic_id, readers[topic_id])


def _even_out(kept: Shares, topic_id: TopicId, readers: list[str]) -> bool:
    """Moves partitions of one topic until its readers differ by one at most, or cannot."""
    movable = {one: sorted(p for p in kept[one] if p[0] == topic_id) for one in readers}
    moved = False
    while holders := [one for one in readers if movable[one]]:
        richest = max(holders, key=lambda member_id: len(kept[member_id]))
        poorest = min(readers, key=lambda member_id: len(kept[member_id]))
        if len(kept[richest]) - len(kept[poorest]) <= 1:
            break
        going = movable[richest].pop()
        movable[poorest].append(going)
        kept[richest].discard(going)
        kept[poorest].add(going)
        moved = True
    return moved


def _readers(
    subjects: Mapping[str, Subject], counts: Mapping[TopicId, int]
) -> dict[TopicId, list[str]]:
    return {
        topic_id: [one for one, subject in subjects.items() if topic_id in subject.topic_ids]
        for topic_id in counts
    }


def _flat(target: Partitions, topic_ids: frozenset[TopicId]) -> set[Partition]:
    return {
        (topic_id, partition)
        for topic_id, found in target.items()
        if topic_id in topic_ids
        for partition in found
    }


def _grouped(share: Iterable[Partition]) -> Partitions:
    grouped: dict[TopicId, set[int]] = {}
    for topic_id, partition in share:
        grouped.setdefault(topic_id, set()).add(partition)
    return {topic_id: frozenset(grouped[topic_id]) for topic_id in sorted(grouped)}
