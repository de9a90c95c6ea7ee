"""Requests whose sender hangs up at once: what they ask for is done all the same."""

from __future__ import annotations

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.delete_groups import DeleteGroupsRequest
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.list_groups import ListGroupsRequest
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.conformance.clients.raw import Connection
from tests.conformance.conftest import Cluster
from tests.patience import wait_until

pytestmark = pytest.mark.client("raw requests")

COUNT = 12


@pytest.mark.feature("Commits and deletions of groups whose client does not wait")
def test_groups(cluster: Cluster, topic: str) -> None:
    """Groups that nobody asked for before, so that most of their coordinators are not ready."""
    names = [f"{topic}-{number}" for number in range(COUNT)]
    asked = Connection(cluster.bootstrap_servers)

    def found() -> set[str]:
        groups = asked.call(ListGroupsRequest(), 5).groups
        return {group.group_id for group in groups} & set(names)

    try:
        # The topic below them is made when a coordinator is first looked for.
        asked.call(FindCoordinatorRequest(coordinator_keys=[names[0]]), 6)
        wait_until(lambda: _commit(asked, names[0], topic) == ErrorCode.NONE)
        for name in names[1:]:
            _unheard(cluster, _request(name, topic))
        wait_until(lambda: found() == set(names))
        for name in names:
            _unheard(cluster, DeleteGroupsRequest(groups_names=[name]), 2)
        wait_until(lambda: not found())
    finally:
        asked.close()


def _unheard(cluster: Cluster, request: Entity, version: int = 9) -> None:
    connection = Connection(cluster.bootstrap_servers)
    connection.send(request, version)
    connection.close()


def _request(group: str, topic: str) -> OffsetCommitRequest:
    place = OffsetCommitRequestPartition(partition_index=0, committed_offset=3)
    topics = [OffsetCommitRequestTopic(name=topic, partitions=[place])]
    return OffsetCommitRequest(group_id=group, topics=topics)


def _commit(asked: Connection, group: str, topic: str) -> int:
    answer = asked.call(_request(group, topic), 9)
    return int(answer.topics[0].partitions[0].error_code)
