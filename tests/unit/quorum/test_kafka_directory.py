"""A metadata directory written by Apache Kafka 4.3.0, opened here.

It was formatted, started twice, given topics, settings, a quota, a credential and a producer, and
stopped in order: so every partition stands without a leader, waiting for its broker.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from penstock.metadata import NO_LEADER, ResourceType, image_records
from penstock.model.id import id_to_str
from penstock.quorum.metadata_snapshot import read_bootstrap
from penstock.storage.disk import RealDisk
from tests.unit.quorum.journal_kit import Plane, play

DATA = Path(__file__).parent / "data" / "kafka-4.3"
NEWEST = "00000000000000000602-0000000002.checkpoint"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DATA, tmp_path / "kafka"))


async def opened(directory: Path) -> Plane:
    return await Plane(directory).lead()


def test_its_image_is_what_kafka_had(directory: Path) -> None:
    image = play(opened(directory)).image
    counts = {topic.name: len(topic.partitions) for topic in image.topics}
    assert counts == {"orders": 5, "pay.ments": 1, "def": 1, "m1": 2, "wide": 300}
    assert id_to_str(image.topics.get("orders").id) == "OJFkLH3rRziaFn8wIa0vlQ"
    assert image.configs.topic("orders") == {"retention.ms": "99", "cleanup.policy": ""}
    assert image.configs.broker(None)["log.retention.ms"] == "2000000"
    assert image.configs.of(ResourceType.GROUP, "g1") == {"consumer.session.timeout.ms": "50000"}
    assert image.features["metadata.version"] == 30
    assert image.next_producer_id == 1000
    assert image.brokers[1].fenced and image.brokers[1].epoch == 281
    assert list(image.controllers) == [1]
    assert len(image.security.quotas) == len(image.security.scram_credentials) == 1
    state = image.topics.partition("orders", 0)
    assert (state.leader, state.isr, state.elr) == (NO_LEADER, (), (1,))


def test_with_or_without_its_snapshot_the_image_is_the_same(directory: Path) -> None:
    plane = play(opened(directory))
    latest = plane.metadata_log.latest_snapshot
    assert latest is not None and latest.end_offset == 602
    plane.crash()
    (directory / "__cluster_metadata-0" / NEWEST).unlink()
    assert play(opened(directory)).image == plane.image


def test_our_broker_takes_over_where_kafka_stopped(directory: Path) -> None:
    async def story() -> None:
        plane = await opened(directory)
        await plane.join(directory_id=plane.image.brokers[1].log_dirs[0])
        await plane.create("ours", 2)
        assert plane.epoch == 3
        assert all(
            (one.leader, one.isr, one.elr, one.leader_epoch) == (1, (1,), (), epoch)
            for topic in plane.image.topics
            for one in topic.partitions.values()
            for epoch in [0 if topic.name == "ours" else one.leader_epoch]
        )
        wide = plane.image.topics.partition("wide", 0)
        assert wide is not None and wide.leader_epoch == 2
        await plane.close()
        again = await opened(directory)
        assert again.image == plane.image
        await again.close()

    play(story())


def test_a_snapshot_of_ours_keeps_everything_of_theirs(directory: Path) -> None:
    async def story() -> None:
        plane = await opened(directory)
        await plane.join(directory_id=plane.image.brokers[1].log_dirs[0])
        await plane.write_snapshot()
        await plane.close()
        again = await opened(directory)
        assert again.loaded == len(list(image_records(plane.image)))
        assert again.image == plane.image
        voters = again.quorum._machine.voters
        assert voters == plane.quorum._machine.voters and voters.ids == (1,)
        assert voters.voters[0].endpoints and again.quorum._machine.kraft_version == 1
        await again.close()

    play(story())


def test_the_bootstrap_file_says_how_to_begin(directory: Path, tmp_path: Path) -> None:
    records = read_bootstrap(RealDisk(), str(directory))
    assert records is not None
    levels = {record.name: record.feature_level for record in records}  # type: ignore[attr-defined]
    assert levels["metadata.version"] == 30 and levels["transaction.version"] == 2
    assert read_bootstrap(RealDisk(), str(tmp_path)) is None
