"""Our quorum follows the metadata log of an Apache Kafka controller: every record, byte by byte."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic

from penstock.model.id import id_to_str
from penstock.node.raft_channel import PeerChannel
from penstock.peer.dialer import SocketDialer
from penstock.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    RequestPartitionData,
    RequestTopicData,
)
from penstock.raft import RaftEndpoint, Role
from tests.mixed.observer_kit import LISTENER, Observer
from tools.apache_kafka import CLUSTER_ID, ApacheKafka
from tools.kafka_cluster import SMALL_HEAP

pytestmark = pytest.mark.java

METADATA = "__cluster_metadata-0"
WITHOUT_SHARE = ("--feature", "share.version=0")


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafka]:
    node = ApacheKafka(
        tmp_path_factory.mktemp("kafka") / "data",
        {"metadata.log.max.record.bytes.between.snapshots": "20000"},
        heap=SMALL_HEAP,
    )
    node.format_flags = ("--standalone", *WITHOUT_SHARE)
    with node:
        yield node


def controller_servers(kafka: ApacheKafka) -> str:
    return f"127.0.0.1:{kafka.controller_port}"


def observer(kafka: ApacheKafka, directory: Path, node_id: int = 9) -> Observer:
    return Observer(directory, node_id, controller_servers(kafka), CLUSTER_ID)


def create(kafka: ApacheKafka, name: str, partitions: int = 3) -> None:
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
    config = {"retention.ms": "123456"}
    made = admin.create_topics([NewTopic(name, partitions, 1, config=config)])
    made[name].result(timeout=30)


def kafka_batches(kafka: ApacheKafka) -> bytes:
    files = sorted((kafka.data_dir / METADATA).glob("*.log"))
    return b"".join(path.read_bytes() for path in files)


def test_every_record_is_decoded_and_the_log_is_the_same_bytes(
    kafka: ApacheKafka, tmp_path: Path
) -> None:
    async def story() -> None:
        async with observer(kafka, tmp_path) as ours:
            await asyncio.to_thread(create, kafka, "orders")
            await ours.caught_up_with("orders")
            assert ours.quorum.view.role is Role.FOLLOWER
            assert ours.leaders[-1][0] == 1
            topic = ours.image.topics.get("orders")
            assert topic is not None and len(topic.partitions) == 3
            assert all(one.leader == 1 for one in topic.partitions.values())
            assert ours.image.configs.topic("orders") == {"retention.ms": "123456"}
            assert ours.image.features["metadata.version"] == 30
            assert 1 in ours.image.brokers and 1 in ours.image.controllers
            held = ours.held_bytes()
            assert held and held in kafka_batches(kafka)

    asyncio.run(story())


def test_it_is_told_as_the_admin_client_tells_it(kafka: ApacheKafka, tmp_path: Path) -> None:
    async def story() -> None:
        await asyncio.to_thread(create, kafka, "told", 5)
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
        # Kafka's own broker learns of the topic from the same log, and later than the answer.
        async with asyncio.timeout(30):
            while "told" not in (listed := admin.list_topics(timeout=30).topics):
                await asyncio.sleep(0.05)
        async with observer(kafka, tmp_path) as ours:
            await ours.caught_up_with("told")
            theirs = {name: len(topic.partitions) for name, topic in listed.items()}
            assert {one.name: len(one.partitions) for one in ours.image.topics} == theirs
            resource = ConfigResource(ConfigResource.Type.TOPIC, "told")
            found = admin.describe_configs([resource])[resource].result(timeout=30)
            assert ours.image.configs.topic("told")["retention.ms"] == found["retention.ms"].value

    asyncio.run(story())


def test_an_empty_directory_is_filled_from_a_snapshot_and_the_log_behind_it(
    kafka: ApacheKafka, tmp_path: Path
) -> None:
    async def story() -> None:
        await asyncio.to_thread(create, kafka, "wide", 300)
        path = kafka.data_dir / METADATA
        bootstrap = f"{0:020d}-{0:010d}.checkpoint"
        async with asyncio.timeout(60):
            while not [one for one in path.glob("*.checkpoint") if one.name != bootstrap]:
                await asyncio.sleep(0.05)
        await asyncio.to_thread(create, kafka, "behind")
        async with observer(kafka, tmp_path) as ours:
            await ours.caught_up_with("behind")
            assert ours.snapshots and ours.snapshots[0] > 300
            assert ours.log.start_offset == ours.snapshots[-1]
            wide = ours.image.topics.get("wide")
            assert wide is not None and len(wide.partitions) == 300
            mine = sorted((tmp_path / METADATA).glob("*.checkpoint"))
            assert mine[-1].read_bytes() == (path / mine[-1].name).read_bytes()
            assert ours.quorum._machine.voters.ids == (1,)
            assert ours.quorum._machine.kraft_version == 1
            before = ours.image
        again = observer(kafka, tmp_path)
        async with again:
            await again.caught_up_with("behind")
            await again.until(lambda: again.image.next_offset >= before.next_offset)
            assert again.image == before
            assert [id_to_str(one.id) for one in again.image.topics]

    asyncio.run(story())


def test_the_controller_lists_it_as_an_observer(kafka: ApacheKafka, tmp_path: Path) -> None:
    async def story() -> None:
        async with observer(kafka, tmp_path, 77) as ours:
            await ours.until(lambda: ours.log.high_watermark > 0)
            await ours.until(lambda: ours.image.brokers)
            replicas = await described(kafka)
            assert 77 in replicas
            assert replicas[77] > 0

    asyncio.run(story())


async def described(kafka: ApacheKafka) -> dict[int, int]:
    host, _, port = controller_servers(kafka).rpartition(":")
    channel = PeerChannel(SocketDialer(), 0, lambda: 0.5)
    topic = RequestTopicData(topic_name="__cluster_metadata", partitions=[RequestPartitionData()])
    request = DescribeQuorumRequest(topics=[topic])
    endpoint = RaftEndpoint(LISTENER, host, int(port))
    response = await channel.call(endpoint, request, version=None, timeout_s=30)
    channel.close()
    assert isinstance(response, DescribeQuorumResponse)
    observers = response.topics[0].partitions[0].observers
    return {one.replica_id: one.log_end_offset for one in observers}


def test_a_new_epoch_is_followed_and_the_image_goes_on(kafka: ApacheKafka, tmp_path: Path) -> None:
    async def story() -> None:
        async with observer(kafka, tmp_path) as ours:
            await ours.until(lambda: ours.image.brokers)
            epoch = ours.leaders[-1][1]
            await asyncio.to_thread(kafka.restart)
            await asyncio.to_thread(create, kafka, "after-restart")
            await ours.caught_up_with("after-restart")
            assert ours.leaders[-1][0] == 1 and ours.leaders[-1][1] > epoch
            held = ours.held_bytes()
            assert held and held in kafka_batches(kafka)

    asyncio.run(story())


def test_another_cluster_is_not_followed(kafka: ApacheKafka, tmp_path: Path) -> None:
    """KAFKA-17426."""

    async def story() -> None:
        ours = Observer(tmp_path, 9, controller_servers(kafka), "another-cluster")
        async with ours:
            await asyncio.sleep(2)
            assert ours.log.end_offset == 0 and not ours.snapshots
            assert ours.quorum.failure is None

    asyncio.run(story())
