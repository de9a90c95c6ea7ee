"""Clients over their quotas, in virtual time: they wait as long as they are told, others do not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.peer.peer import Peer
from penstock.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.testing.simulation.cluster import SimulatedCluster
from tests.node.wire_kit import batch, fetch, fetched, part, produce, produced
from tests.simulation.client_kit import create_topic

BATCH_BYTES = 20_000
RATE = 20_000.0
WAIT_S = 3600.0
GREEDY, MODEST = "greedy", "modest"


@contextmanager
def one_node(**settings: object) -> Iterator[SimulatedCluster]:
    with SimulatedCluster(seed=5) as cluster:
        cluster.add("one", {key.replace("_", "."): value for key, value in settings.items()})
        cluster.start("one")
        cluster.run(create_topic(cluster.peer("one"), "t"))
        yield cluster


async def set_quota(
    cluster: SimulatedCluster, key: str, value: float | None, client_id: str | None = GREEDY
) -> None:
    op = OpData(key=key, value=value or 0.0, remove=value is None)
    entity = RequestEntityData(entity_type="client-id", entity_name=client_id)
    request = AlterClientQuotasRequest(entries=[RequestEntryData(entity=[entity], ops=[op])])
    answer: Any = await cluster.peer("one", "admin").call(request, timeout_s=10)
    assert [one.error_code for one in answer.entries] == [0], answer


async def produce_once(peer: Peer, acks: int = -1) -> Any:
    request = produce("t", batch(b"." * BATCH_BYTES), acks=acks)
    answer = await peer.call(request, version=12, timeout_s=WAIT_S)
    assert produced(answer).error_code == 0
    return answer


async def take(peer: Peer, offset: int) -> Any:
    request = fetch({"t": [part(0, offset, BATCH_BYTES)]})
    return await peer.call(request, version=12, timeout_s=WAIT_S)


def test_a_producer_at_many_times_its_quota_is_held_to_it() -> None:
    with one_node() as cluster:

        async def work() -> None:
            await set_quota(cluster, "producer_byte_rate", RATE)
            greedy, modest = cluster.peer("one", GREEDY), cluster.peer("one", MODEST)
            sent, begun = 0, cluster.now_s
            told_ms = []
            while cluster.now_s < begun + 60:
                told_ms.append((await produce_once(greedy)).throttle_time_ms)
                sent += BATCH_BYTES
                answered = cluster.now_s
                assert (await produce_once(modest)).throttle_time_ms == 0
                assert cluster.now_s - answered < 1, "who is within its quota waits for nobody"
            assert sent / 60 == pytest.approx(RATE, rel=0.25)
            assert told_ms[0] == 0 and max(told_ms) > 0

        cluster.run(work())


def test_the_connection_is_silent_for_as_long_as_the_answer_says() -> None:
    """Also to what was sent before the answer was there, and to other requests."""
    with one_node() as cluster:

        async def work() -> None:
            await set_quota(cluster, "producer_byte_rate", 100.0)
            greedy = cluster.peer("one", GREEDY)
            first = asyncio.create_task(produce_once(greedy))
            ahead = asyncio.create_task(produce_once(greedy))
            wait_s = (await first).throttle_time_ms / 1000
            assert wait_s == pytest.approx(BATCH_BYTES / 100 - 10, abs=3)
            answered = cluster.now_s
            later = asyncio.create_task(take(greedy, 0))
            await set_quota(cluster, "producer_byte_rate", None)
            assert not ahead.done()
            assert (await ahead).throttle_time_ms == 0
            await later
            assert cluster.now_s - answered == pytest.approx(wait_s, abs=1)

        cluster.run(work())


def test_a_consumer_over_its_quota_gets_nothing_and_then_all() -> None:
    with one_node() as cluster:

        async def work() -> None:
            for _ in range(30):
                await produce_once(cluster.peer("one", MODEST))
            await set_quota(cluster, "consumer_byte_rate", RATE)
            greedy = cluster.peer("one", GREEDY)
            offset = throttled = 0
            begun = cluster.now_s
            while offset < 30:
                answer = await take(greedy, offset)
                if answer.throttle_time_ms:
                    assert not answer.responses
                    throttled += 1
                else:
                    assert len(fetched(answer)["t", 0].records) > BATCH_BYTES
                    offset += 1
            assert throttled
            assert RATE / 2 < 30 * BATCH_BYTES / (cluster.now_s - begun) < 2 * RATE

        cluster.run(work())


def test_one_answer_is_never_larger_than_the_quota_can_bear() -> None:
    """Else it would be put off for ever."""
    with one_node() as cluster:

        async def work() -> None:
            for _ in range(30):
                await produce_once(cluster.peer("one", MODEST))
            await set_quota(cluster, "consumer_byte_rate", 2500.0)
            request = fetch({"t": [part(0, 0, 10_000_000)]})
            answer: Any = await cluster.peer("one", GREEDY).call(
                request, version=12, timeout_s=WAIT_S
            )
            assert 0 < len(fetched(answer)["t", 0].records) <= 25_000

        cluster.run(work())


def test_followers_and_other_clients_have_no_part_in_it() -> None:
    with one_node() as cluster:

        async def work() -> None:
            await produce_once(cluster.peer("one", MODEST))
            await set_quota(cluster, "consumer_byte_rate", 1.0, client_id=None)
            assert (await take(cluster.peer("one", GREEDY), 0)).throttle_time_ms > 0
            request = fetch({"t": [part(0, 0, BATCH_BYTES)]}, replica_id=7)
            follower = cluster.peer("one", "broker-7-fetcher-0")
            answer: Any = await follower.call(request, version=12, timeout_s=WAIT_S)
            assert answer.throttle_time_ms == 0

        cluster.run(work())


def creation(name: str, partitions: int) -> CreateTopicsRequest:
    topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
    return CreateTopicsRequest(topics=[topic], timeout_ms=5000)


def test_partitions_are_made_and_deleted_within_the_quota() -> None:
    """Ten at once, then one a second: newer clients are refused, older ones wait."""
    with one_node(controller_quota_window_num=10) as cluster:

        async def work() -> None:
            await set_quota(cluster, "controller_mutation_rate", 1.0)
            peer = cluster.peer("one", GREEDY)

            async def ask(request: Any, version: int) -> Any:
                return await peer.call(request, version=version, timeout_s=WAIT_S)

            made = await ask(creation("a", 20), 7)
            assert (made.topics[0].error_code, made.throttle_time_ms) == (0, 0)
            refused = await ask(creation("b", 1), 7)
            assert refused.topics[0].error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
            assert 9_000 < refused.throttle_time_ms <= 10_000
            # The connection was muted until the bucket had something in it.
            assert (await ask(creation("b", 4), 5)).throttle_time_ms == pytest.approx(4000, abs=100)
            deleted = await ask(DeleteTopicsRequest(topics=[DeleteTopicState(name="a")]), 6)
            assert deleted.responses[0].error_code == 0
            again = await ask(DeleteTopicsRequest(topics=[DeleteTopicState(name="b")]), 6)
            assert again.responses[0].error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
            assert again.throttle_time_ms > 18_000

        cluster.run(work())


def test_topics_that_are_made_by_using_them_count_as_well() -> None:
    with one_node(controller_quota_window_num=10, num_partitions=20) as cluster:

        async def work() -> None:
            await set_quota(cluster, "controller_mutation_rate", 1.0)

            async def use(name: str, client_id: str = GREEDY) -> int:
                """Twice: the second time it is there, if it was made."""
                request = MetadataRequest(
                    topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=True
                )
                await cluster.peer("one", client_id).call(request, version=12, timeout_s=WAIT_S)
                again: Any = await cluster.peer("one", client_id).call(
                    request, version=12, timeout_s=WAIT_S
                )
                return int(again.topics[0].error_code)

            assert await use("a") == 0
            assert await use("b") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            assert await use("c", MODEST) == 0
            await asyncio.sleep(30)
            assert await use("b") == 0

        cluster.run(work())


def test_quotas_are_there_after_a_start() -> None:
    with one_node() as cluster:
        cluster.run(set_quota(cluster, "producer_byte_rate", 1.0))
        cluster.restart("one")
        answer = cluster.run(produce_once(cluster.peer("one", GREEDY)))
        assert answer.throttle_time_ms > 0
