"""Elections over the protocol: preferred or unclean, of some partitions or of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from penstock.cli.operator.link import Link, check, error_name
from penstock.cli.operator.state import TopicPartition
from penstock.model.error import ErrorCode
from penstock.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    TopicPartitions,
)

_PREFERRED, _UNCLEAN = 0, 1


class Elections(NamedTuple):
    elected: list[TopicPartition]
    not_needed: list[TopicPartition]
    failed: dict[TopicPartition, str]


def elect_leaders(
    link: Link, places: Sequence[TopicPartition] | None, *, unclean: bool
) -> Elections:
    """None stands for every partition."""
    topics: dict[str, TopicPartitions] = {}
    for topic, partition in places or ():
        topics.setdefault(topic, TopicPartitions(topic=topic)).partitions.append(partition)
    request = ElectLeadersRequest(
        election_type=_UNCLEAN if unclean else _PREFERRED,
        topic_partitions=None if places is None else list(topics.values()),
        timeout_ms=link.timeout_ms,
    )
    answer = link.call(request, ElectLeadersResponse)
    check(answer.error_code)
    found = Elections([], [], {})
    for topic_result in answer.replica_election_results:
        for each in topic_result.partition_result:
            place = TopicPartition(topic_result.topic, each.partition_id)
            if each.error_code == ErrorCode.ELECTION_NOT_NEEDED:
                found.not_needed.append(place)
            elif each.error_code:
                name = error_name(each.error_code)
                said = (each.error_message or "").rstrip(".")
                found.failed[place] = f"{said} ({name})" if said else name
            else:
                found.elected.append(place)
    return found
