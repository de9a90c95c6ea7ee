"""The simple assignor of share groups: every partition has a reader, and every member something to
read; with more members than partitions, several share one.

What members have stays with them as far as the shares allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import groupby, pairwise
from typing import TypeAlias

from penstock.group.share.member import Partitions
from penstock.model.id import TopicId

Place: TypeAlias = tuple[TopicId, int]


def assign_simple(
    subscriptions: Mapping[str, Set[TopicId]],
    partitions: Mapping[TopicId, Set[int]],
    before: Mapping[str, Partitions],
) -> dict[str, Partitions]:
    """`subscriptions` by member. Where all ask for the same, all partitions are shared out at once;
    else topic by topic."""
    wanted = [sorted(one) for one in subscriptions.values()]
    shares: dict[str, set[Place]] = {member_id: set() for member_id in subscriptions}
    is_same = all(one == wanted[0] for one in wanted)
    topics = sorted({topic_id for one in wanted for topic_id in one} & partitions.keys())
    for some in [topics] if is_same else [[one] for one in topics]:
        places = [(topic_id, index) for topic_id in some for index in sorted(partitions[topic_id])]
        members = sorted(
            member_id for member_id, asked in subscriptions.items() if not asked.isdisjoint(some)
        )
        for member_id, found in _shared_out(members, places, before).items():
            shares[member_id] |= found
    return {member_id: _by_topic(found) for member_id, found in shares.items()}


def _shared_out(
    members: Sequence[str], places: Sequence[Place], before: Mapping[str, Partitions]
) -> dict[str, set[Place]]:
    if not members or not places:
        return {}
    readers_max = -(-len(members) // len(places))
    sizes = _sizes(len(members), readers_max * len(places))
    shares: dict[str, set[Place]] = {}
    readers = dict.fromkeys(places, 0)
    for member_id, size in zip(members, sizes, strict=True):
        had = before.get(member_id, {})
        kept = [place for place in places if place[1] in had.get(place[0], ())]
        shares[member_id] = set()
        for place in kept:
            if len(shares[member_id]) < size and readers[place] < readers_max:
                shares[member_id].add(place)
                readers[place] += 1
    for member_id, size in zip(members, sizes, strict=True):
        _fill(shares[member_id], size, readers, readers_max)
    return shares


def _sizes(count: int, slots: int) -> list[int]:
    """As even as can be, the larger ones spread."""
    ends = [-(-(n * slots) // count) for n in range(count + 1)]
    return [after - first for first, after in pairwise(ends)]


def _fill(share: set[Place], size: int, readers: dict[Place, int], readers_max: int) -> None:
    """With the partitions that have the fewest readers."""
    missing = size - len(share)
    if missing <= 0:
        return
    free = [one for one in readers if one not in share and readers[one] < readers_max]
    for place in sorted(free, key=readers.__getitem__)[:missing]:
        share.add(place)
        readers[place] += 1


def _by_topic(places: Set[Place]) -> Partitions:
    return {
        topic_id: frozenset(index for _, index in found)
        for topic_id, found in groupby(sorted(places), key=lambda place: place[0])
    }
