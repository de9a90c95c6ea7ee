"""What happens to partitions and to its registration as a broker comes, goes or stops.

Each gives records for the caller's decision; whether it is time for it is not judged here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from penstock.controller.config import ControllerContext
from penstock.controller.leader_rules import LeaderRules
from penstock.controller.partition_change import PartitionChange
from penstock.controller.partition_index import PartitionKey
from penstock.metadata.broker import BrokerImage
from penstock.metadata.partition import PartitionImage
from penstock.metadata.record import MetadataRecord
from penstock.metadata.version import CORDONED_DIRECTORIES_LEVEL, METADATA_VERSION
from penstock.model.directory_id import is_online
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.records.broker_registration_change_record import (
    BrokerRegistrationChangeRecord,
)

_UNFENCE, _FENCE = -1, 1
_SHUTTING_DOWN = 1


def check_epoch(context: ControllerContext, broker_id: int, broker_epoch: int) -> BrokerImage:
    broker = context.image.brokers.get(broker_id)
    if broker is None:
        raise ApiError(
            ErrorCode.STALE_BROKER_EPOCH, f"No broker registration found for broker id {broker_id}"
        )
    if broker.epoch != broker_epoch:
        raise ApiError(
            ErrorCode.STALE_BROKER_EPOCH,
            f"Expected broker epoch {broker.epoch}, but got broker epoch {broker_epoch}",
        )
    return broker


def fence(context: ControllerContext, broker: BrokerImage) -> list[MetadataRecord]:
    """What the broker led goes to another in-sync replica, or waits for it as an eligible one."""
    return [*leave_in_sync(context, broker.id), _change(broker, fenced=_FENCE)]


def unfence(context: ControllerContext, broker: BrokerImage) -> list[MetadataRecord]:
    """Partitions that stand without a leader, and that the broker may lead, get it. No others:
    a broker that comes back is no reason to move what is led."""
    rules = LeaderRules(context, back=broker.id)
    records: list[MetadataRecord] = [_change(broker, fenced=_UNFENCE)]
    for topic_id, index in context.index.leaderless():
        topic = context.image.topics.require(topic_id)
        partition = topic.partitions[index]
        if broker.id in partition.replicas:
            record = PartitionChange(rules, topic, index, partition).record()
            records += [] if record is None else [record]
    return records


def begin_shutdown(context: ControllerContext, broker: BrokerImage) -> list[MetadataRecord]:
    change = _change(broker, in_controlled_shutdown=_SHUTTING_DOWN)
    return [change, *leave_in_sync(context, broker.id)]


def stop_uncleanly(context: ControllerContext, broker_id: int) -> list[MetadataRecord]:
    """It may have lost what it had acknowledged: neither in sync nor eligible (KIP-966)."""
    keys = [*context.index.in_sync(broker_id), *context.index.eligible(broker_id)]
    return _without(context, broker_id, keys, is_unclean=True)


def stop_cleanly(
    context: ControllerContext, broker_id: int, directories: Collection[bytes]
) -> list[MetadataRecord]:
    """It has what it had, save for what was in a directory that is not among these any more: that
    it makes anew, with nothing in it."""
    in_sync, eligible = context.index.in_sync(broker_id), context.index.eligible(broker_id)

    def is_there(key: PartitionKey) -> bool:
        return is_online(_partition(context, key).directory(broker_id), directories)

    kept = [key for key in in_sync if is_there(key)]
    gone = [key for key in (*in_sync, *eligible) if not is_there(key)]
    return [
        *_without(context, broker_id, kept),
        *_without(context, broker_id, gone, is_unclean=True),
    ]


def leave_in_sync(context: ControllerContext, broker_id: int) -> list[MetadataRecord]:
    return _without(context, broker_id, context.index.in_sync(broker_id))


def lose_directories(
    context: ControllerContext, broker: BrokerImage, lost: Collection[bytes]
) -> list[MetadataRecord]:
    keys = [
        key
        for key in context.index.in_sync(broker.id)
        if _partition(context, key).directory(broker.id) in lost
    ]
    left = [one for one in broker.log_dirs if one not in lost]
    return [*_without(context, broker.id, keys), _change(broker, log_dirs=left)]


def cordon(
    context: ControllerContext, broker: BrokerImage, directories: Collection[bytes]
) -> list[MetadataRecord]:
    """These and no others take no new replicas from now on (KIP-1066)."""
    if context.image.features.get(METADATA_VERSION, 0) < CORDONED_DIRECTORIES_LEVEL:
        return []
    known = sorted(set(directories).intersection(broker.log_dirs))
    if known == sorted(broker.cordoned_log_dirs or ()):
        return []
    return [_change(broker, cordoned_log_dirs=known)]


def _partition(context: ControllerContext, key: PartitionKey) -> PartitionImage:
    topic_id, index = key
    return context.image.topics.require(topic_id).partitions[index]


def _without(
    context: ControllerContext,
    broker_id: int,
    keys: Iterable[PartitionKey],
    is_unclean: bool = False,
) -> list[MetadataRecord]:
    rules = LeaderRules(context, gone=broker_id)
    records: list[MetadataRecord] = []
    for topic_id, index in keys:
        topic = context.image.topics.require(topic_id)
        partition = topic.partitions[index]
        change = PartitionChange(rules, topic, index, partition)
        change.isr = [one for one in partition.isr if one != broker_id]
        if is_unclean and rules.keeps_eligible:
            change.stopped_uncleanly = broker_id
        record = change.record()
        if record is not None:
            records.append(record)
    return records


def _change(
    broker: BrokerImage,
    *,
    fenced: int = 0,
    in_controlled_shutdown: int = 0,
    log_dirs: list[bytes] | None = None,
    cordoned_log_dirs: list[bytes] | None = None,
) -> BrokerRegistrationChangeRecord:
    return BrokerRegistrationChangeRecord(
        broker_id=broker.id,
        broker_epoch=broker.epoch,
        fenced=fenced,
        in_controlled_shutdown=in_controlled_shutdown,
        log_dirs=log_dirs or [],
        cordoned_log_dirs=cordoned_log_dirs,
    )
