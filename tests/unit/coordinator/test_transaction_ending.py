"""The end of one transaction and the beginning of the next share a flush, and neither is told
before it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

from penstock.coordinator.ending import Endings
from penstock.coordinator.marker import Marker
from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.transaction.state import TransactionState
from penstock.transaction.transaction import Identity
from tests.unit.transaction.test_transaction_runtime import FIRST, Node, open_transaction

PATIENCE_S = 10


class Markers:
    """Written when the test says so."""

    def __init__(self) -> None:
        self.written = asyncio.Event()

    async def send(
        self, marker: Marker, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, ErrorCode]:
        await self.written.wait()
        return dict.fromkeys(partitions, ErrorCode.NONE)


def begin(node: Node, markers: Markers) -> Endings:
    endings = Endings(cast("Any", markers), node.clock)
    (task,) = node.tasks
    endings.begin(node.runtime, cast("Any", SimpleNamespace(leader_epoch=0)), task)
    return endings


def state_of(node: Node) -> TransactionState:
    found = node.runtime.machine.register.find("a")
    assert found is not None
    return found.state


def test_the_next_transaction_shares_the_flush_of_the_end_and_waits_for_it() -> None:
    async def story() -> None:
        node, markers = await open_transaction(), Markers()
        await node.commit(FIRST)
        endings = begin(node, markers)
        waiting = asyncio.create_task(endings.wait("a"))
        await asyncio.sleep(0.01)
        # Before the markers are safe nothing of the next one may be written.
        assert not waiting.done()
        assert state_of(node) is TransactionState.PREPARE_COMMIT

        node.journal.committed.clear()
        markers.written.set()
        await asyncio.wait_for(waiting, PATIENCE_S)
        assert state_of(node) is TransactionState.COMPLETE_COMMIT
        added = asyncio.create_task(node.add(Identity(FIRST.producer_id, 1)))
        await asyncio.sleep(0.01)
        assert not added.done()
        node.journal.committed.set()
        assert await asyncio.wait_for(added, PATIENCE_S) is ErrorCode.NONE
        await endings.close()
        await node.runtime.close()

    asyncio.run(story())


def test_a_journal_that_loses_the_end_never_told_of_what_came_behind_it() -> None:
    """As power failures leave it: what was not committed is gone, and nobody was answered."""

    async def story() -> None:
        node, markers = await open_transaction(), Markers()
        await node.commit(FIRST)
        kept = len(node.journal.records)
        endings = begin(node, markers)
        node.journal.committed.clear()
        markers.written.set()
        await asyncio.wait_for(endings.wait("a"), PATIENCE_S)
        added = asyncio.create_task(node.add(Identity(FIRST.producer_id, 1)))
        await asyncio.sleep(0.01)
        assert len(node.journal.records) == kept + 2
        del node.journal.records[kept:]
        node.runtime.fail(OSError("no power"))
        assert (await asyncio.gather(added, return_exceptions=True)) != [ErrorCode.NONE]

        again = Node(node.journal)
        again.journal.committed.set()
        await again.start()
        assert state_of(again) is TransactionState.PREPARE_COMMIT
        assert [task.committed for task in again.runtime.machine.pending_markers()] == [True]

    asyncio.run(story())


def test_who_waits_for_an_end_that_nobody_works_on_any_more_goes_on() -> None:
    async def story() -> None:
        node, markers = await open_transaction(), Markers()
        await node.commit(FIRST)
        endings = begin(node, markers)
        waiting = asyncio.create_task(endings.wait("a"))
        await asyncio.sleep(0)
        endings.drop(node.runtime)
        await asyncio.wait_for(waiting, PATIENCE_S)
        await node.runtime.close()

    asyncio.run(story())
