"""What a broker of a large cluster does with the metadata: loads all of it, follows each change."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from bench.large.figure import Figure, megabytes, seconds, timed
from bench.process import rss_mb
from penstock.handlers.api import metadata
from penstock.handlers.broker import Broker
from penstock.handlers.call import Call
from penstock.metadata import ClusterImage, MetadataRecord
from penstock.protocol.codec import encode
from penstock.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from penstock.protocol.messages.records.partition_change_record import PartitionChangeRecord
from penstock.quorum.metadata_snapshot import read_snapshot
from penstock.replication.lost_leaders import LostLeaders
from penstock.storage.disk import RealDisk

VERSION = 13


def measure(path: Path) -> list[Figure]:
    empty_mb = rss_mb(os.getpid())
    image = ClusterImage()
    _, loaded_s = timed(lambda: _load(image, path))
    grown_mb = rss_mb(os.getpid()) - empty_mb
    image.take_delta()
    return [
        Figure("a broker starts: the snapshot is loaded", seconds(loaded_s)),
        Figure("memory of a broker's image", f"{grown_mb:,.0f} MB"),
        *_metadata(image),
        *_follow(image),
    ]


def _load(image: ClusterImage, path: Path) -> None:
    for offset, record in enumerate(read_snapshot(RealDisk(), str(path)).records):
        image.replay(record, offset)


def _metadata(image: ClusterImage) -> list[Figure]:
    name = next(iter(image.topics)).name
    one, one_s = timed(lambda: _ask(image, [MetadataRequestTopic(name=name)]))
    whole, whole_s = timed(lambda: _ask(image, None))
    return [
        Figure("a client asks for one topic of 100 partitions", f"{seconds(one_s)}, {one:,} B"),
        Figure("a client asks for all topics", f"{seconds(whole_s)}, {megabytes(whole)}"),
    ]


async def is_gone(broker_id: int) -> bool:
    return False


def _ask(image: ClusterImage, topics: list[MetadataRequestTopic] | None) -> int:
    """The size of the answer."""
    broker = SimpleNamespace(
        image=image,
        node_id=1,
        cluster_id="c",
        lost_leaders=LostLeaders(image.brokers, is_gone),
        clock=SimpleNamespace(monotonic=time.monotonic),
        controller=SimpleNamespace(is_making=lambda names: False),
    )
    call = SimpleNamespace(version=VERSION, client=SimpleNamespace(listener="PLAINTEXT"))
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)

    async def answered() -> int:
        answer = metadata.handle(cast(Broker, broker), request, cast(Call, call))
        if asyncio.iscoroutine(answer):
            answer = await answer
        assert isinstance(answer, MetadataResponse)
        return len(encode(answer, VERSION))

    return asyncio.run(answered())


def _follow(image: ClusterImage) -> list[Figure]:
    """Another broker has died: what each of the living applies."""
    victim = max(image.brokers)
    changes: list[MetadataRecord] = [
        PartitionChangeRecord(
            topic_id=topic.id,
            partition_id=index,
            isr=[one for one in partition.isr if one != victim],
            leader=next(one for one in partition.isr if one != victim),
        )
        for topic in image.topics
        for index, partition in topic.partitions.items()
        if victim in partition.isr
    ]
    offset = image.next_offset

    def apply() -> None:
        for at, record in enumerate(changes, offset):
            image.replay(record, at)
        image.take_delta()

    _, applied_s = timed(apply)
    return [Figure("another broker dies: its changes are applied", seconds(applied_s))]
