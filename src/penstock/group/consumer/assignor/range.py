"""Neighbouring partitions go together: of each topic every member gets one stretch.

Members stand in the same order for every topic, so topics with the same subscribers and as many
partitions are shared alike, which joins by key rely on.
"""

from __future__ import annotations

from collections.abc import Mapping

from penstock.group.consumer.assignor.subject import Subject
from penstock.group.consumer.member import Partitions
from penstock.model.id import TopicId


def assign_range(
    subjects: Mapping[str, Subject], counts: Mapping[TopicId, int]
) -> dict[str, Partitions]:
    order = sorted(subjects, key=lambda member_id: _rank(member_id, subjects[member_id]))
    shares: dict[str, dict[TopicId, frozenset[int]]] = {member_id: {} for member_id in order}
    for topic_id, count in counts.items():
        readers = [one for one in order if topic_id in subjects[one].topic_ids]
        start = 0
        for position, member_id in enumerate(readers):
            size = count // len(readers) + (position < count % len(readers))
            if size:
                shares[member_id][topic_id] = frozenset(range(start, start + size))
            start += size
    return dict(shares)


def _rank(member_id: str, subject: Subject) -> tuple[bool, str]:
    """Static members first, by the name that outlives a restart."""
    instance_id = subject.instance_id
    return (False, instance_id) if instance_id is not None else (True, member_id)
