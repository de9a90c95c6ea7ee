"""Replicas on this node with damaged batches, on their way to being whole again.

Damage is found by whoever reads: a fetch, an opening, a recovery, the scrubber. What may be done
then is for `replication/repair` to say; here it is done, step by step, until the replica follows
another and fetches what it lacks. From then on it is a follower that is behind, like any other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from penstock.metadata.image import ClusterImage
from penstock.metadata.version import DIRECTORIES_LEVEL, METADATA_VERSION
from penstock.model.error import ApiError
from penstock.model.id import TopicPartition
from penstock.replication.follower import CutAt
from penstock.replication.partition import Partition
from penstock.replication.partition_set import PartitionSet
from penstock.replication.repair import Step, next_step
from penstock.storage.batch_check import first_damage
from penstock.telemetry.log import get_logger

WHOLE_LOG = -1

log = get_logger("repair")


class Hands(Protocol):
    """What a repair does to a replica of this node."""

    def tell_lost(self, partition: Partition) -> None: ...

    def tell_home(self, partition: Partition) -> None: ...

    def cut(self, partition: Partition, action: CutAt) -> None:
        """And fetch from there."""
        ...

    def begin_anew(self, partition: Partition) -> None:
        """With nothing, and fetch all of it."""
        ...


class Repairs:
    """`min_isr` is the setting of a topic."""

    def __init__(
        self,
        node_id: int,
        image: ClusterImage,
        partitions: PartitionSet,
        min_isr: Callable[[str], int],
        hands: Hands,
    ) -> None:
        self._node_id = node_id
        self._image = image
        self._partitions = partitions
        self._min_isr = min_isr
        self._hands = hands
        self._damaged: dict[TopicPartition, int] = {}
        self._last: dict[TopicPartition, Step] = {}
        self.repaired = 0
        """Replicas that were cut, or begun anew, because of damage."""

    def __len__(self) -> int:
        return len(self._damaged)

    def note(self, key: TopicPartition, base_offset: int = WHOLE_LOG) -> None:
        """Damage in the segment of that base offset, or behind it; or the log cannot be opened."""
        known = self._image.topics.partition(*key)
        if known is None or len(known.replicas) < 2:
            return
        if key not in self._damaged:
            log.error("replica is damaged", partition=key)
        self._damaged[key] = min(base_offset, self._damaged.get(key, base_offset))

    async def work(self) -> None:
        """From time to time: what can be done by now."""
        for key in list(self._damaged):
            step = self._step(key)
            partition = self._partitions.get(*key)
            if partition is None or step is Step.FORGET:
                self._forget(key)
                continue
            if self._last.get(key) is not step:
                self._last[key] = step
                log.warning("repair", partition=key, step=step.name.lower(), why=step.value)
            if step is Step.LEAVE:
                self._hands.tell_lost(partition)
            elif step is Step.RETURN:
                self._hands.tell_home(partition)
            elif step is Step.CUT:
                await self._repair(key, partition)

    def _step(self, key: TopicPartition) -> Step:
        if self._image.features.get(METADATA_VERSION, 0) < DIRECTORIES_LEVEL:
            # It cannot say that it is lost.
            return Step.WAIT
        state = self._image.topics.partition(*key)
        return next_step(self._node_id, state, self._min_isr(key.topic))

    async def _repair(self, key: TopicPartition, partition: Partition) -> None:
        base_offset = self._damaged[key]
        if base_offset == WHOLE_LOG or partition.ended is not None:
            self._begin_anew(key, partition)
            return
        held = partition.log
        generation = held.generation
        found = await asyncio.to_thread(first_damage, held, base_offset)
        # The disk took its time: only what is still so counts.
        if (
            self._step(key) is not Step.CUT
            or self._partitions.get(*key) is not partition
            or partition.ended is not None
            or partition.log is not held
            or held.generation != generation
            or (found is not None and found[0] not in held.segments)
        ):
            return
        if found is None:
            self._forget(key)
            self._hands.tell_home(partition)
            return
        segment, checked = found
        try:
            self._hands.cut(partition, CutAt(segment.base_offset, checked.position, checked.offset))
        except (ApiError, OSError) as error:
            log.warning("damage cannot be cut", partition=key, reason=str(error))
            self._begin_anew(key, partition)
            return
        log.warning("damaged replica cut", partition=key, at=checked.offset, why=checked.damage)
        self._done(key)

    def _begin_anew(self, key: TopicPartition, partition: Partition) -> None:
        log.warning("damaged replica begins anew", partition=key)
        self._hands.begin_anew(partition)
        self._done(key)

    def _done(self, key: TopicPartition) -> None:
        self.repaired += 1
        self._forget(key)
        partition = self._partitions.get(*key)
        if partition is not None:
            self._hands.tell_home(partition)

    def _forget(self, key: TopicPartition) -> None:
        self._damaged.pop(key, None)
        self._last.pop(key, None)
