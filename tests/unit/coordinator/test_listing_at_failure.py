"""What is asked of a whole coordinator whose disk fails meanwhile is answered: ask again."""

from __future__ import annotations

import asyncio
from pathlib import Path

from penstock.coordinator.topic import CONSUMER_OFFSETS, TRANSACTION_STATE
from penstock.model.error import ErrorCode, StorageError
from penstock.protocol.messages.init_producer_id import InitProducerIdRequest
from penstock.protocol.messages.list_groups import ListGroupsRequest
from penstock.protocol.messages.list_transactions import ListTransactionsRequest
from tests.unit.coordinator.client_kit import (
    GROUP,
    TxnProducer,
    commit_offset,
    commit_request,
    coordinator,
)
from tests.unit.coordinator.cluster_kit import KitCluster


def test_groups(tmp_path: Path) -> None:
    async def story(cluster: KitCluster) -> None:
        assert await commit_offset(cluster, "g", 1) == 0
        node = await coordinator(cluster, GROUP, "g")
        cluster.stopped_replicas.add(CONSUMER_OFFSETS)
        commit = asyncio.create_task(node.ask(commit_request("g", 2), 8))
        listing = asyncio.create_task(node.ask(ListGroupsRequest(), 4))
        await asyncio.sleep(0.1)
        assert not commit.done() and not listing.done()
        runtime = node.broker.groups.loaded_of("g")
        assert runtime is not None
        runtime.fail(StorageError("the disk has failed"))
        (answered,) = (await commit).topics[0].partitions
        assert answered.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert (await listing).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        cluster.stopped_replicas.clear()
        await asyncio.sleep(1)

    KitCluster(tmp_path).run(story)


def test_transactions(tmp_path: Path) -> None:
    async def story(cluster: KitCluster) -> None:
        producer = TxnProducer(cluster)
        assert await producer.init() == 0
        node = await producer.coordinator()
        cluster.stopped_replicas.add(TRANSACTION_STATE)
        request = InitProducerIdRequest(transactional_id="tx", transaction_timeout_ms=60_000)
        beginning = asyncio.create_task(node.ask(request, 4))
        listing = asyncio.create_task(node.ask(ListTransactionsRequest(), 0))
        await asyncio.sleep(0.1)
        assert not beginning.done() and not listing.done()
        runtime = node.broker.transactions.loaded_of("tx")
        assert runtime is not None
        runtime.fail(StorageError("the disk has failed"))
        assert (await beginning).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert (await listing).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        cluster.stopped_replicas.clear()
        await asyncio.sleep(1)

    KitCluster(tmp_path).run(story)
