"""The replica lists of a reassignment: as it begins, when it is done, when it is called off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from penstock.metadata.partition import PartitionImage


class Reassignment(NamedTuple):
    """`replicas` holds all who take part: those wanted first, those to be removed behind."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


def is_moving(partition: PartitionImage) -> bool:
    return bool(partition.adding_replicas or partition.removing_replicas)


def begun(partition: PartitionImage, wanted: Sequence[int]) -> Reassignment:
    """A second one takes the place of the first: what that one added was never a replica before."""
    original = original_replicas(partition)
    removing = tuple(sorted(set(partition.replicas) - set(wanted)))
    adding = tuple(sorted(set(wanted) - set(original)))
    return Reassignment((*wanted, *removing), adding, removing)


def original_replicas(partition: PartitionImage) -> tuple[int, ...]:
    return tuple(one for one in partition.replicas if one not in partition.adding_replicas)


def target_count(partition: PartitionImage) -> int:
    """How many replicas there will be once the reassignment under way, if any, is done."""
    return len(set(partition.replicas) - set(partition.removing_replicas))


def finished(
    replicas: Sequence[int], isr: Sequence[int], adding: Sequence[int], removing: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Replicas and in-sync replicas once it is done; None while somebody has to catch up."""
    final = tuple(one for one in replicas if one not in removing)
    in_sync = tuple(one for one in isr if one not in removing)
    if not final or not in_sync or not set(adding).issubset(in_sync):
        return None
    if len(adding) < len(removing) and not set(final).issubset(in_sync):
        # Fewer than before: each that stays has to hold what those that go held.
        return None
    return final, in_sync
