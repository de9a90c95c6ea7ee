"""What every story of a mixed cluster has: writers, transactions and groups with a coordinator on
each broker, nodes that die or stop under them, and the reckoning at the end."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from confluent_kafka import ElectionType, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.node.raft_channel import PeerChannel
from penstock.peer.dialer import SocketDialer
from penstock.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    RequestPartitionData,
    RequestTopicData,
)
from penstock.raft import RaftEndpoint
from tests.mixed.load_kit import (
    PATIENCE_S,
    Group,
    Transactions,
    Worker,
    Writer,
    leaders,
    number_of,
    one_for_each,
    read_all,
)
from tests.mixed.mixed_kit import MixedCluster
from tests.mixed.replica_kit import difference, held
from tests.patience import wait_until

TOPIC = "orders"
REPLICAS = 3
COORDINATORS = 4
"""Partitions of both topics of coordinators, as `mixed_kit.QUICK` has it."""
COUNTS = {"__consumer_offsets": COORDINATORS, "__transaction_state": COORDINATORS}
ROUNDS = 3


class Story:
    """One topic, with one partition led by each broker. Begun and ended as a context. Transactional
    ids and groups: `clients` of each, at most one for each coordinator."""

    def __init__(self, cluster: MixedCluster, *, clients: int = COORDINATORS) -> None:
        servers = cluster.bootstrap_servers
        self.cluster = cluster
        self.servers = servers
        self.admin = AdminClient({"bootstrap.servers": servers})
        self.ids = sorted(cluster.brokers)
        count = len(self.ids)
        self.writer = Writer(servers, TOPIC, count)
        self.transactions = [
            Transactions(servers, name, TOPIC, count)
            for name in one_for_each("transfer", COORDINATORS)[:clients]
        ]
        self.groups = [
            Group(servers, name, TOPIC, "consumer" if index % 2 else "classic")
            for index, name in enumerate(one_for_each("group", COORDINATORS)[:clients])
        ]
        self.counts = {TOPIC: count, **COUNTS}

    @property
    def workers(self) -> list[Worker]:
        return [self.writer, *self.transactions, *self.groups]

    @contextmanager
    def begun(self) -> Iterator[Story]:
        self._create_topic()
        with ExitStack() as stack:
            for worker in self.workers:
                stack.enter_context(worker)
            self.wait_progress("from the start")
            yield self

    def _create_topic(self) -> None:
        count = len(self.ids)
        assignment = [
            [self.ids[(index + step) % count] for step in range(REPLICAS)] for index in range(count)
        ]
        topic = NewTopic(
            TOPIC, count, replica_assignment=assignment, config={"min.insync.replicas": "2"}
        )
        self.admin.create_topics([topic])[TOPIC].result(timeout=PATIENCE_S)
        wait_until(lambda: self.leads(TOPIC) == set(self.ids), "not every broker leads")

    # What happens to nodes

    def kill(self, number: int) -> None:
        self.cluster.node(number).kill()
        self.wait_progress(f"after the end of {number}")

    def stop(self, number: int) -> None:
        """Cleanly: whoever it led has another leader by then."""
        self.cluster.node(number).stop()
        wait_until(
            lambda: number not in leaders(self.admin, self.counts).values(),
            f"{number} still leads",
        )
        self.wait_progress(f"after the stop of {number}")

    def bring_back(self, number: int) -> None:
        """In sync, and leading what it led before."""
        self.cluster.start(number)
        wait_until(self._is_whole, f"{number} does not come back into all in-sync sets")
        wait_until(lambda: self._lead_again(number), f"{number} does not lead again")
        self.wait_progress(f"after the return of {number}")

    def _lead_again(self, number: int) -> bool:
        try:
            self.admin.elect_leaders(ElectionType.PREFERRED).result(timeout=PATIENCE_S)
        except KafkaException:
            pass  # asked again
        return number in self.leads(TOPIC)

    def wait_progress(self, when: str) -> None:
        """Everybody has done something new."""
        before = [each.rounds for each in self.workers]
        acknowledged = self.writer.count

        def has_progress() -> bool:
            for worker in self.workers:
                worker.check()
            done = zip(self.workers, before, strict=True)
            return self.writer.count > acknowledged and all(
                worker.rounds >= rounds + ROUNDS for worker, rounds in done
            )

        def stuck() -> str:
            done = zip(self.workers, before, strict=True)
            rounds = ", ".join(f"{worker}: {worker.rounds - was}" for worker, was in done)
            return f"no progress {when}: {rounds}, {self.writer.count - acknowledged} acks"

        wait_until(has_progress, stuck)

    # What is asked

    def leads(self, topic: str) -> set[int]:
        return set(leaders(self.admin, [topic]).values())

    def _is_whole(self) -> bool:
        """In the eyes of any one broker, which may have come back just now."""
        listed = self.admin.list_topics(timeout=PATIENCE_S).topics
        return self.counts.keys() <= listed.keys() and all(
            len(partition.isrs) == REPLICAS and partition.leader >= 0
            for topic in self.counts
            for partition in listed[topic].partitions.values()
        )

    def active_controller(self) -> int:
        return asyncio.run(_quorum_leader(self.cluster.bootstrap_servers.split(",")[0]))

    # The end

    def settle(self) -> None:
        """Nothing lost, nothing twice, nothing aborted to be seen, and all replicas the same."""
        self.writer.end()
        for transactions in self.transactions:
            transactions.end()
        wanted = {value for one in self.writer.acknowledged.values() for _, value in one}
        wanted |= set().union(*(each.committed for each in self.transactions))
        found = read_all(self.servers, TOPIC, len(self.ids))
        seen = Counter(value for records in found.values() for _, value in records)
        assert not wanted - seen.keys()
        assert not [value for value, times in seen.items() if times > 1]
        assert not seen.keys() & set().union(*(each.aborted for each in self.transactions))
        for partition, records in self.writer.acknowledged.items():
            there = dict(found[partition])
            assert not [one for one in records if one[0] >= 0 and there.get(one[0]) != one[1]]
            numbers = [number_of(value) for _, value in found[partition] if value[:1] == b"w"]
            assert numbers == sorted(numbers)
        for group in self.groups:
            group.wait_seen(wanted)
            group.end()
            assert not group.seen.keys() - seen.keys()
        self._compare_replicas()

    def _compare_replicas(self) -> None:
        wait_until(self._is_whole, "not all replicas are in sync")
        homes = {number: node.data_dir for number, node in self.cluster.brokers.items()}
        for topic, count in self.counts.items():
            for index in range(count):
                _compare(homes, topic, index)


def _compare(homes: Mapping[int, Path], topic: str, index: int) -> None:
    def apart() -> str | None:
        return difference(held(homes, topic, index))

    wait_until(lambda: apart() is None, lambda: f"{topic}-{index}: {apart()}")
    replicas = held(homes, topic, index)
    assert len(replicas) == REPLICAS
    assert topic != TOPIC or all(replicas.values())


def compare_metadata_logs(cluster: MixedCluster) -> None:
    """It goes on being written: all end with what all have in the end."""
    homes = {node.place.number: node.data_dir for node in cluster.nodes}
    wait_until(
        lambda: difference(held(homes, "__cluster_metadata", 0)) is None,
        lambda: f"metadata logs: {difference(held(homes, '__cluster_metadata', 0))}",
    )
    assert len(held(homes, "__cluster_metadata", 0)) == len(homes)


async def _quorum_leader(server: str) -> int:
    host, _, port = server.rpartition(":")
    channel = PeerChannel(SocketDialer(), 0, lambda: 0.5)
    topic = RequestTopicData(topic_name="__cluster_metadata", partitions=[RequestPartitionData()])
    endpoint = RaftEndpoint("PLAINTEXT", host, int(port))
    request = DescribeQuorumRequest(topics=[topic])
    response = await channel.call(endpoint, request, version=None, timeout_s=PATIENCE_S)
    channel.close()
    assert isinstance(response, DescribeQuorumResponse)
    return response.topics[0].partitions[0].leader_id
