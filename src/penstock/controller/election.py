"""Who leads a partition.

A leader comes from the in-sync replicas; where none is left, from those known to hold everything
committed (KIP-966). Only an unclean election, which may lose records, looks further.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import IntEnum

from penstock.controller.config import ELIGIBLE_LEADERS, ControllerContext
from penstock.metadata.partition import NO_LEADER, PartitionImage
from penstock.model.id import TopicId
from penstock.protocol.messages.records.partition_change_record import PartitionChangeRecord

_RECOVERING = 1
_MIN_ISR = "min.insync.replicas"


class Election(IntEnum):
    PREFERRED = 0
    UNCLEAN = 1


def min_isr(context: ControllerContext, topic: str, partition: PartitionImage) -> int:
    """How many in-sync replicas are enough: below that nothing new is committed.

    Zero in a cluster that keeps no eligible leaders: there the last in-sync replica stays one.
    """
    if not context.image.features.get(ELIGIBLE_LEADERS):
        return 0
    configs = context.image.configs
    text = configs.topic(topic).get(_MIN_ISR) or configs.broker(None).get(_MIN_ISR)
    wanted = context.config.min_insync_replicas if text is None else int(text)
    return min(wanted, len(partition.replicas))


def elect_leader(
    topic_id: TopicId,
    index: int,
    partition: PartitionImage,
    election: Election | None,
    active: Collection[int],
    enough: int,
) -> PartitionChangeRecord | None:
    """The change that gives the partition a leader; None if nothing would change."""
    eligible = partition.isr or partition.elr
    candidates = [one for one in partition.replicas if one in eligible and one in active]
    leader = _prefer(partition, election, candidates)
    is_unclean = leader is None and election == Election.UNCLEAN
    if is_unclean:
        leader = next((one for one in partition.replicas if one in active), None)
    if leader is None or leader == partition.leader:
        return None
    record = PartitionChangeRecord(partition_id=index, topic_id=topic_id, leader=leader)
    if leader not in partition.isr:
        record.isr = [leader]
    if is_unclean:
        record.leader_recovery_state = _RECOVERING
        _set_eligible(record, partition, [], [])
    else:
        _settle_eligible(record, partition, enough)
    return record


def _prefer(
    partition: PartitionImage, election: Election | None, candidates: list[int]
) -> int | None:
    wanted = partition.leader
    if election == Election.PREFERRED:
        wanted = partition.preferred_leader
    if wanted in candidates:
        return wanted
    if partition.leader in candidates:
        return partition.leader
    return candidates[0] if candidates else None


def retire_replica(
    topic_id: TopicId,
    index: int,
    partition: PartitionImage,
    broker_id: int,
    active: Collection[int],
    enough: int,
) -> PartitionChangeRecord:
    """The change when a broker that was in sync goes: it can lead again if it is the last."""
    isr = [one for one in partition.isr if one != broker_id]
    if not isr and enough == 0:
        isr = list(partition.isr)
    record = PartitionChangeRecord(partition_id=index, topic_id=topic_id, isr=isr)
    if partition.leader == broker_id:
        record.leader = next(
            (one for one in partition.replicas if one in isr and one in active), -1
        )
    if len(isr) >= enough:
        _settle_eligible(record, partition, enough)
    else:
        eligible = [one for one in partition.replicas if one in {*partition.elr, *partition.isr}]
        last_known = [broker_id] if record.leader == NO_LEADER else list(partition.last_known_elr)
        _set_eligible(record, partition, [one for one in eligible if one not in isr], last_known)
    return record


def _settle_eligible(record: PartitionChangeRecord, partition: PartitionImage, enough: int) -> None:
    """With enough in sync more is committed than the eligible have: they are so no longer."""
    isr = partition.isr if record.isr is None else record.isr
    kept = [] if len(isr) >= enough else [one for one in partition.elr if one not in isr]
    _set_eligible(record, partition, kept, [])


def _set_eligible(
    record: PartitionChangeRecord, partition: PartitionImage, elr: list[int], last_known: list[int]
) -> None:
    if elr != list(partition.elr):
        record.eligible_leader_replicas = elr
    if last_known != list(partition.last_known_elr):
        record.last_known_elr = last_known
