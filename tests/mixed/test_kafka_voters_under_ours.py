"""Apache Kafka's voters under a leader of ours: they vote for it, fetch its log and its snapshot.

One wrong answer, or one record that does not replay, would end their processes. Kafka's nodes are
controllers alone, and wait so long before they stand that the leader is always ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.metadata import MetadataRecord
from penstock.metadata.snapshot import image_records
from penstock.protocol.messages.fetch_snapshot import FetchSnapshotRequest
from penstock.protocol.messages.records.config_record import ConfigRecord
from penstock.protocol.messages.records.feature_level_record import FeatureLevelRecord
from penstock.protocol.messages.records.no_op_record import NoOpRecord
from penstock.protocol.messages.records.topic_record import TopicRecord
from penstock.testing.port import free_port
from tests.mixed.test_voter_beside_kafka import METADATA, TwoOfThree, batches_of
from tests.mixed.voter_kit import NEVER_MS, VOTER_ID, OurVoter
from tools.apache_kafka import CLUSTER_ID, ApacheKafka

pytestmark = pytest.mark.java

FIRST: list[MetadataRecord] = [
    FeatureLevelRecord(name="metadata.version", feature_level=30),
    NoOpRecord(),
]


@pytest.fixture
def kafka(tmp_path: Path) -> Iterator[TwoOfThree]:
    cluster = TwoOfThree(tmp_path / "kafka", free_port())
    for node in cluster.nodes.values():
        listener = f"CONTROLLER://127.0.0.1:{node.controller_port}"
        node.settings |= {
            "process.roles": "controller",
            "listeners": listener,
            "advertised.listeners": listener,
            "controller.quorum.election.timeout.ms": str(NEVER_MS),
            "controller.quorum.fetch.timeout.ms": str(NEVER_MS),
        }
    cluster.format_all()
    try:
        yield cluster
    finally:
        cluster.kill_all()


def ends_with(node: ApacheKafka, ours: OurVoter) -> bool:
    """Whether all that is committed here is also there, byte by byte."""
    return bool(batches_of(node)) and batches_of(node).endswith(ours.held_bytes())


async def write(ours: OurVoter, *records: MetadataRecord) -> None:
    journal = ours.quorum.journal
    assert journal is not None
    await journal.wait_committed(journal.append(records) + len(records))


def test_kafka_follows_our_leader_and_takes_its_snapshot(kafka: TwoOfThree, tmp_path: Path) -> None:
    port = int(kafka.all_voters.rpartition(":")[2])
    early, late = kafka.nodes[1], kafka.nodes[2]

    async def story() -> None:
        ours = OurVoter(tmp_path / "ours", port, kafka.all_voters, CLUSTER_ID, timeout_ms=500)
        async with ours:
            await asyncio.to_thread(early.launch)
            await ours.until(lambda: ours.quorum.journal is not None)
            assert ours.leaders[-1][0] == VOTER_ID
            await write(ours, *FIRST)
            for number in range(20):
                await write(
                    ours,
                    TopicRecord(name=f"t-{number}", topic_id=number.to_bytes(16, "big")),
                    ConfigRecord(
                        resource_type=2,
                        resource_name=f"t-{number}",
                        name="retention.ms",
                        value=str(number + 1),
                    ),
                )
            await ours.until(lambda: ends_with(early, ours))
            assert len(ours.image.topics) == 20
            written = await ours.quorum.write_snapshot(
                list(image_records(ours.image)), ours.quorum.committed_offset
            )
            assert written is not None and ours.log.start_offset == written.end_offset
            await write(ours, NoOpRecord())
            await asyncio.to_thread(late.launch)
            theirs = late.data_dir / METADATA / f"{written[0]:020d}-{written[1]:010d}.checkpoint"
            await ours.until(theirs.exists)
            assert any(isinstance(one, FetchSnapshotRequest) for one in ours.answered)
            mine = tmp_path / "ours" / METADATA / theirs.name
            await ours.until(lambda: theirs.read_bytes() == mine.read_bytes())
            await write(ours, NoOpRecord())
            await ours.until(lambda: ends_with(late, ours) and ends_with(early, ours))
            view = ours.quorum.describe()
            assert not isinstance(view, int)
            assert {one.key.id for one in view.voters if one.end_offset > 0} == {1, 2, VOTER_ID}
            await asyncio.sleep(1)
            for node in (early, late):
                assert node.running, node.log_file.read_text()[-3000:]
                assert "FATAL" not in node.log_file.read_text()

    asyncio.run(story())
