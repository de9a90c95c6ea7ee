"""One of our voters among Apache Kafka's, under a Kafka leader: static voters, kraft.version 0.

With one of Kafka's two voters dead, nothing is elected or committed without ours: every vote and
every fetch of ours is then one that Kafka counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.protocol.messages.begin_quorum_epoch import BeginQuorumEpochRequest
from penstock.protocol.messages.vote import VoteRequest
from penstock.raft import Role
from penstock.testing.port import free_port
from tests.mixed.voter_kit import VOTER_ID, OurVoter
from tools.apache_kafka import CLUSTER_ID, ApacheKafka
from tools.kafka_cluster import KafkaCluster

pytestmark = pytest.mark.java

METADATA = "__cluster_metadata-0"
WITHOUT_SHARE = ["--feature", "share.version=0"]


class TwoOfThree(KafkaCluster):
    """Kafka's two; the third voter is ours."""

    def __init__(self, folder: Path, our_port: int) -> None:
        super().__init__(folder, nodes=2)
        self.all_voters = f"{self.voters},{VOTER_ID}@127.0.0.1:{our_port}"
        for node in self.nodes.values():
            node.settings["controller.quorum.voters"] = self.all_voters

    def _format_flags(self) -> list[str]:
        return WITHOUT_SHARE

    def format_all(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._format()


@pytest.fixture
def kafka(tmp_path: Path) -> Iterator[TwoOfThree]:
    cluster = TwoOfThree(tmp_path / "kafka", free_port())
    with cluster:
        yield cluster


def create(node: ApacheKafka, name: str) -> None:
    admin = AdminClient({"bootstrap.servers": node.bootstrap_servers})
    admin.create_topics([NewTopic(name, 2, 1)])[name].result(timeout=60)


def batches_of(node: ApacheKafka) -> bytes:
    files = sorted((node.data_dir / METADATA).glob("*.log"))
    return b"".join(path.read_bytes() for path in files)


def test_kafka_elects_and_commits_with_our_vote_and_our_log(
    kafka: TwoOfThree, tmp_path: Path
) -> None:
    port = int(kafka.all_voters.rpartition(":")[2])

    async def story() -> None:
        async with OurVoter(tmp_path / "ours", port, kafka.all_voters, CLUSTER_ID) as ours:
            await ours.until(lambda: ours.quorum.view.role is Role.FOLLOWER)
            await asyncio.to_thread(create, kafka.nodes[1], "with-all")
            await ours.caught_up_with("with-all")
            for round_ in range(2):
                leader = ours.quorum.view.leader_id
                assert leader in (1, 2)
                epoch = ours.quorum.view.epoch
                other = 3 - leader
                kafka.kill(leader)
                await ours.until(lambda other=other: ours.quorum.view.leader_id == other)
                assert ours.quorum.view.epoch > epoch
                name = f"round-{round_}"
                await asyncio.to_thread(create, kafka.nodes[other], name)
                await ours.caught_up_with(name)
                assert kafka.nodes[other].running
                await asyncio.to_thread(kafka.start, leader)
            votes = [one for one in ours.answered if isinstance(one, VoteRequest)]
            assert any(not one.topics[0].partitions[0].pre_vote for one in votes)
            assert any(isinstance(one, BeginQuorumEpochRequest) for one in ours.answered)
            held = ours.held_bytes()
            leader_now = ours.quorum.view.leader_id
            assert leader_now is not None and held in batches_of(kafka.nodes[leader_now])
            assert all(node.running for node in kafka.nodes.values())

    asyncio.run(story())
