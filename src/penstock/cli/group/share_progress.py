"""How far a group is, partition by partition, and how share groups tell it."""

from __future__ import annotations

from typing import NamedTuple

from penstock.cli.group.state import Place
from penstock.cli.operator.link import check
from penstock.cli.wire_call import BrokerConnection
from penstock.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsResponse,
)


class Progress(NamedTuple):
    offset: int
    """The next to be consumed; of a share group, the first that is not done with."""
    waiting: int | None = None
    """Records not done with, where the broker counts them."""


def read_share_progress(
    connection: BrokerConnection, names: list[str]
) -> dict[str, dict[Place, Progress]]:
    request = DescribeShareGroupOffsetsRequest(
        groups=[DescribeShareGroupOffsetsRequestGroup(group_id=name, topics=None) for name in names]
    )
    answer = connection.call(request, DescribeShareGroupOffsetsResponse)
    found: dict[str, dict[Place, Progress]] = {}
    for group in answer.groups:
        check(group.error_code, group.error_message, f"group {group.group_id}")
        found[group.group_id] = {
            (topic.topic_name, each.partition_index): Progress(
                each.start_offset, each.lag if each.lag >= 0 else None
            )
            for topic in group.topics
            for each in topic.partitions
            if not each.error_code and each.start_offset >= 0
        }
    return found
