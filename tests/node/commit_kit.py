"""Offset commits over raw requests, and waiting until they are taken."""

from __future__ import annotations

import time
from typing import Any

from penstock.model.error import RETRIABLE, ErrorCode
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from tests.node.wire_kit import Wire

TOPIC = "t"
GROUP = "g"
SAFETIES = {"synced": {}, "written": {"log.flush.interval.messages": "9223372036854775807"}}
"""Settings of a broker: acknowledged is what is on disk, or what is written."""


def create(name: str, partitions: int = 1) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        topics=[CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)]
    )


def commit(offset: int, group: str = GROUP) -> OffsetCommitRequest:
    position = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    return OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=-1,
        topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=[position])],
    )


def commit_error(response: Any) -> int:
    code: int = response.topics[0].partitions[0].error_code
    return code


def committed(wire: Wire, group: str = GROUP) -> int:
    asked = OffsetFetchRequestGroup(
        group_id=group, topics=[OffsetFetchRequestTopics(name=TOPIC, partition_indexes=[0])]
    )
    response = wire.call(OffsetFetchRequest(groups=[asked]), 8)
    offset: int = response.groups[0].topics[0].partitions[0].committed_offset
    return offset


def fetch_error(wire: Wire, group: str = GROUP) -> int:
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=None)])
    code: int = wire.call(request, 8).groups[0].error_code
    return code


def wait_zero(ask: Any, timeout_s: float = 60.0) -> None:
    deadline = time.monotonic() + timeout_s
    while (code := ask()) != 0:
        assert code in RETRIABLE, ErrorCode(code)
        assert time.monotonic() < deadline, ErrorCode(code)
        time.sleep(0.05)
