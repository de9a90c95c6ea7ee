"""What the active controller does in a large cluster, one event after another."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from bench.large.controller import LEVEL, NOW_MS, LargeController, written_bytes
from bench.large.figure import Figure, megabytes, seconds, timed
from bench.process import rss_mb
from penstock.controller.periodic import ControllerTimer
from penstock.metadata import MetadataRecord
from penstock.metadata.snapshot import image_records
from penstock.protocol.codec import encode
from penstock.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    BrokerState,
    RequestPartitionData,
    RequestTopicData,
)
from penstock.protocol.messages.records.partition_change_record import PartitionChangeRecord
from penstock.quorum.metadata_snapshot import encode_snapshot

TOPIC_PARTITIONS = 100
TOPICS_PER_REQUEST = 100
HEARTBEATS = 2_000
HEARTBEAT_INTERVAL_S = 2


def measure(
    brokers: int, partitions: int, snapshot: Path, say: Callable[[str], None]
) -> list[Figure]:
    empty_mb = rss_mb(os.getpid())
    controller = LargeController()
    say(f"{brokers:,} brokers register")
    for broker_id in range(1, brokers + 1):
        controller.start_broker(broker_id)
    say(f"{partitions:,} partitions are made")
    _, made_s = timed(lambda: _create(controller, partitions))
    grown_mb = rss_mb(os.getpid()) - empty_mb
    figures = [
        Figure("metadata log: bytes for a partition", f"{controller.log_bytes / partitions:.0f}"),
        Figure("metadata log, before its first snapshot", megabytes(controller.log_bytes)),
        Figure("to make all of them", seconds(made_s)),
        Figure("memory of the controller's image and index", f"{grown_mb:,.0f} MB"),
    ]
    say("a snapshot is written")
    figures += _snapshot(controller, snapshot)
    say("another controller takes over")
    figures += _take_over(controller)
    say("heartbeats")
    figures += _heartbeats(controller, brokers)
    say("a broker dies and comes back")
    figures += _failure(controller, brokers)
    return figures


def _create(controller: LargeController, partitions: int) -> None:
    names = [f"orders-{number}" for number in range(partitions // TOPIC_PARTITIONS)]
    for at in range(0, len(names), TOPICS_PER_REQUEST):
        controller.create(names[at : at + TOPICS_PER_REQUEST], TOPIC_PARTITIONS)


def _snapshot(controller: LargeController, path: Path) -> list[Figure]:
    image, copied_s = timed(controller.image.copy)
    data, encoded_s = timed(lambda: encode_snapshot(image_records(image), (), 1, NOW_MS, LEVEL))
    path.write_bytes(data)
    return [
        Figure("a snapshot", megabytes(len(data))),
        Figure("to write it: on the loop", seconds(copied_s)),
        Figure("to write it: in a thread beside", seconds(encoded_s)),
    ]


def _take_over(controller: LargeController) -> list[Figure]:
    _, copied_s = timed(lambda: LargeController(controller.image.copy()))
    return [Figure("a follower becomes the active controller", seconds(copied_s))]


def _heartbeats(controller: LargeController, brokers: int) -> list[Figure]:
    requests = [controller.heartbeat(1 + at % brokers) for at in range(HEARTBEATS)]
    shard = controller.shard

    def answer() -> None:
        for request in requests:
            controller.take(shard.decide_heartbeat(request, NOW_MS))

    _, spent_s = timed(answer)
    rate = brokers / HEARTBEAT_INTERVAL_S
    return [
        Figure("a heartbeat, decided", seconds(spent_s / HEARTBEATS)),
        Figure("heartbeats a second", f"{rate:,.0f}"),
    ]


def _failure(controller: LargeController, brokers: int) -> list[Figure]:
    victim, shard = brokers, controller.shard
    shard.expire(ControllerTimer.PREFERRED_LEADERS, NOW_MS)  # its index is there already
    offset = controller.image.next_offset
    outcome, decided_s = timed(
        lambda: shard.decide_fence_broker(victim, controller.image.brokers[victim].epoch)
    )
    _, taken_s = timed(lambda: controller.take(outcome))
    changes = [one for one in outcome.records if isinstance(one, PartitionChangeRecord)]
    elected = sum(one.leader >= 0 for one in changes)
    figures = [
        Figure("a broker dies: leaders elected", f"{elected:,}"),
        Figure("… in-sync sets changed, with them", f"{len(changes):,}"),
        Figure("… records in the metadata log", megabytes(written_bytes(outcome.records, offset))),
        Figure("… to decide", seconds(decided_s)),
        Figure("… to encode and apply", seconds(taken_s)),
    ]
    controller.start_broker(victim)
    returned_s = _return_in_sync(controller, victim, changes)
    figures.append(Figure("it comes back: all in-sync sets grow again", seconds(returned_s)))
    _, rebalanced_s = timed(lambda: _rebalance(controller))
    figures.append(Figure("preferred leaders, all of them", seconds(rebalanced_s)))
    return figures


def _return_in_sync(
    controller: LargeController, victim: int, changes: list[PartitionChangeRecord]
) -> float:
    requests = _alterations(controller, victim, changes)

    def alter() -> None:
        for request in requests:
            controller.take(controller.shard.decide_alter_partition(request, 3))
            encode(request, 3)

    return timed(alter)[1]


def _alterations(
    controller: LargeController, victim: int, changes: list[PartitionChangeRecord]
) -> list[AlterPartitionRequest]:
    """One request of each leader, as its fetch session brings all of them at once."""
    image = controller.image
    by_leader: defaultdict[int, defaultdict[bytes, list[RequestPartitionData]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for change in changes:
        partition = image.topics.require(change.topic_id).partitions[change.partition_id]
        wanted = [*partition.isr, victim]
        by_leader[partition.leader][change.topic_id].append(
            RequestPartitionData(
                partition_index=change.partition_id,
                leader_epoch=partition.leader_epoch,
                partition_epoch=partition.partition_epoch,
                new_isr_with_epochs=[
                    BrokerState(broker_id=one, broker_epoch=image.brokers[one].epoch)
                    for one in wanted
                ],
            )
        )
    return [
        AlterPartitionRequest(
            broker_id=leader,
            broker_epoch=image.brokers[leader].epoch,
            topics=[
                RequestTopicData(topic_id=topic_id, partitions=parts)
                for topic_id, parts in topics.items()
            ],
        )
        for leader, topics in by_leader.items()
    ]


def _rebalance(controller: LargeController) -> None:
    records: list[MetadataRecord] = []
    while True:
        outcome = controller.shard.expire(ControllerTimer.PREFERRED_LEADERS, NOW_MS)
        controller.take(outcome)
        records += outcome.records
        if not outcome.records:
            return
