"""kraft.version of a cluster with configured voters: raised while it runs, kept for ever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.model.error import ErrorCode
from penstock.protocol.messages.api_versions import ApiVersionsRequest
from penstock.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    RequestPartitionData,
    RequestTopicData,
)
from penstock.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from penstock.testing.simulation.cluster import SimulatedCluster
from penstock.testing.simulation.member import add_members, build_member
from tests.simulation.cluster_kit import ClusterClient

NAMES = ("a", "b", "c")
UPGRADE, SAFE_DOWNGRADE = 1, 2


@contextmanager
def started(seed: int) -> Iterator[tuple[SimulatedCluster, ClusterClient]]:
    with SimulatedCluster(seed, build=build_member) as cluster:
        add_members(cluster, NAMES)
        cluster.start(*NAMES)
        # Voters tell a new leader of themselves, and controllers register, in the background.
        cluster.run_for(5)
        yield cluster, ClusterClient(cluster, NAMES)


async def _update(
    client: ClusterClient, node: int, kind: int = UPGRADE, *, dry_run: bool = False, **levels: int
) -> tuple[int, str]:
    updates = [
        FeatureUpdateKey(feature=name.replace("_", "."), max_version_level=level, upgrade_type=kind)
        for name, level in levels.items()
    ]
    request = UpdateFeaturesRequest(feature_updates=updates, validate_only=dry_run)
    response: Any = await client.peer(node).call(request, timeout_s=30)
    return response.error_code, response.error_message or ""


async def _levels(client: ClusterClient, node: int) -> dict[str, int]:
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    response: Any = await client.peer(node).call(request, timeout_s=10)
    return {one.name: one.max_version_level for one in response.finalized_features}


async def _voter_directories(client: ClusterClient) -> list[bytes]:
    topic = RequestTopicData(topic_name="__cluster_metadata", partitions=[RequestPartitionData()])
    response: Any = await client.any().call(DescribeQuorumRequest(topics=[topic]), timeout_s=10)
    (part,) = response.topics[0].partitions
    return [voter.replica_directory_id for voter in part.current_voters]


def test_raised_by_any_node_and_known_after_a_restart_of_all() -> None:
    with started(1) as (cluster, client):
        assert cluster.run(_update(client, 2, dry_run=True, kraft_version=1)) == (0, "")
        assert "kraft.version" not in cluster.run(_levels(client, 1))
        assert set(cluster.run(_voter_directories(client))) == {bytes(16)}
        assert cluster.run(_update(client, 2, kraft_version=1)) == (0, "")
        cluster.run_for(1)
        for node in (1, 2, 3):
            assert cluster.run(_levels(client, node))["kraft.version"] == 1
        directories = cluster.run(_voter_directories(client))
        assert len(set(directories)) == 3 and bytes(16) not in directories
        for name in NAMES:
            cluster.crash(name)
        cluster.start(*NAMES)
        cluster.run_for(5)
        client = ClusterClient(cluster, NAMES)
        assert cluster.run(_levels(client, 3))["kraft.version"] == 1
        assert cluster.run(_voter_directories(client)) == directories
        cluster.run(client.create("t", 1))


def test_there_is_no_way_back_and_no_further() -> None:
    with started(2) as (cluster, client):
        assert cluster.run(_update(client, 1, kraft_version=1)) == (0, "")
        cluster.run_for(1)
        assert cluster.run(_update(client, 1, kraft_version=1)) == (0, "")
        refused = ErrorCode.INVALID_UPDATE_VERSION
        code, message = cluster.run(_update(client, 3, SAFE_DOWNGRADE, kraft_version=0))
        assert code == refused
        assert message.endswith("Can't downgrade the version of this feature.")
        code, message = cluster.run(_update(client, 3, kraft_version=2))
        assert code == refused
        assert "only supports versions 0-1" in message


def test_nothing_is_changed_where_one_feature_cannot_be() -> None:
    with started(3) as (cluster, client):
        code, _ = cluster.run(_update(client, 1, kraft_version=1, transaction_version=9))
        assert code == ErrorCode.INVALID_UPDATE_VERSION
        cluster.run_for(1)
        assert "kraft.version" not in cluster.run(_levels(client, 1))
        both = _update(client, 1, SAFE_DOWNGRADE, transaction_version=1)
        assert cluster.run(both) == (0, "")
        raised = _update(client, 1, kraft_version=1, transaction_version=2)
        assert cluster.run(raised) == (0, "")
        cluster.run_for(1)
        levels = cluster.run(_levels(client, 2))
        assert (levels["kraft.version"], levels["transaction.version"]) == (1, 2)


def test_a_voter_that_nothing_was_heard_of_holds_it_up() -> None:
    with SimulatedCluster(4, build=build_member) as cluster:
        add_members(cluster, NAMES)
        cluster.start("a", "b")
        cluster.run_for(5)
        client = ClusterClient(cluster, NAMES)
        code, message = cluster.run(_update(client, 1, kraft_version=1))
        assert code == ErrorCode.INVALID_UPDATE_VERSION
        assert "3 has not registered" in message
