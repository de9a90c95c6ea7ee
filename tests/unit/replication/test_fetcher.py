"""A fetcher thinks over only what has changed, whatever else it follows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from penstock.replication import fetcher as fetcher_module
from penstock.replication.fetcher import Fetcher, FetchLimits
from penstock.replication.follower import Follower
from penstock.replication.partition import Partition
from penstock.storage.trim import advance_log_start
from tests.unit.replication.replica_kit import new_partition
from tests.unit.storage.storage_kit import FixedClock, batch

COUNT = 4
SESSION_ID = 9
Answering = Callable[[FetchRequest], PartitionData | None]


def watermark(high_watermark: int, records: bytes = b"", index: int = 0) -> PartitionData:
    return PartitionData(
        partition_index=index, high_watermark=high_watermark, log_start_offset=0, records=records
    )


class Leader:
    """Answers fetches by the script, one after the other, and then no more."""

    def __init__(self, folder: Path, *script: Answering) -> None:
        self.requests: list[FetchRequest] = []
        self.thought_over: list[int] = []
        """How many followers were asked before each request."""
        self.clock = FixedClock()
        self.partitions = [_partition(folder, index) for index in range(COUNT)]
        self._script = list(script)
        self._done = asyncio.Event()

    async def ask(self, request: Any) -> FetchResponse:
        self.requests.append(request)
        self.thought_over.append(0)
        if not self._script:
            self._done.set()
            await asyncio.Event().wait()
        told = self._script.pop(0)(request)
        answers = [] if told is None else [told]
        topic = FetchableTopicResponse(topic_id=bytes(16), partitions=answers)
        return FetchResponse(session_id=SESSION_ID, responses=[topic] if answers else [])

    async def run(self) -> None:
        fetcher = Fetcher(1, 2, self.ask, self.clock, lambda: 100, FetchLimits(backoff_ms=50))
        for partition in self.partitions:
            fetcher.add(partition)
        async with asyncio.timeout(30):
            await self._done.wait()
        await fetcher.close()

    def named(self) -> list[list[int]]:
        return [
            [one.partition for topic in request.topics for one in topic.partitions]
            for request in self.requests
        ]

    def forgotten(self) -> list[list[int]]:
        return [
            [index for topic in request.forgotten_topics_data for index in topic.partitions]
            for request in self.requests
        ]


def _partition(folder: Path, index: int) -> Partition:
    home = folder / str(index)
    home.mkdir()
    partition = new_partition(home)
    partition.index = index
    return partition


def nothing(request: FetchRequest) -> None:
    return None


@pytest.fixture
def count_thoughts(monkeypatch: pytest.MonkeyPatch) -> Callable[[Leader], None]:
    def count(leader: Leader) -> None:
        asked = Follower.next_request

        def next_request(follower: Follower, *args: int) -> Any:
            if leader.thought_over:
                leader.thought_over[-1] += 1
            return asked(follower, *args)

        monkeypatch.setattr(Follower, "next_request", next_request)

    return count


def start(make: Callable[[], Leader], *before: Callable[[Leader], None]) -> Leader:
    async def run() -> Leader:
        leader = make()
        for one in before:
            one(leader)
        await leader.run()
        return leader

    return asyncio.run(run())


def test_idle_partitions_are_named_once_and_not_thought_over(
    tmp_path: Path, count_thoughts: Callable[[Leader], None]
) -> None:
    leader = start(lambda: Leader(tmp_path, nothing, nothing, nothing), count_thoughts)
    assert leader.named() == [[0, 1, 2, 3], [], [], []]
    assert leader.thought_over == [0, 0, 0, 0]


def test_what_an_answer_brought_is_asked_for_anew(
    tmp_path: Path, count_thoughts: Callable[[Leader], None]
) -> None:
    records = bytes(batch(3, leader_epoch=5))
    leader = start(
        lambda: Leader(tmp_path, lambda _: watermark(0, records, index=2), nothing), count_thoughts
    )
    assert leader.named() == [[0, 1, 2, 3], [2], []]
    assert leader.thought_over == [1, 0, 0]
    (topic,) = leader.requests[1].topics
    assert topic.partitions[0].fetch_offset == 3


def test_a_log_that_begins_later_is_told_to_the_leader(tmp_path: Path) -> None:
    records = bytes(batch(3, leader_epoch=5))

    def make() -> Leader:
        def trim(_: FetchRequest) -> None:
            advance_log_start(leader.partitions[1].log, 2)

        leader = Leader(tmp_path, lambda _: watermark(3, records, index=1), nothing, trim)
        return leader

    leader = start(make)
    assert leader.named() == [[0, 1, 2, 3], [1], [], [1]]
    assert leader.requests[3].topics[0].partitions[0].log_start_offset == 2


def test_who_backs_off_is_forgotten_and_named_again_in_time(tmp_path: Path) -> None:
    def make() -> Leader:
        def fail(_: FetchRequest) -> PartitionData:
            return PartitionData(
                partition_index=3, error_code=ErrorCode.UNKNOWN_LEADER_EPOCH, records=b""
            )

        def let_pass(_: FetchRequest) -> None:
            leader.clock.ms += 50

        leader = Leader(tmp_path, fail, nothing, let_pass)
        return leader

    leader = start(make)
    assert leader.named() == [[0, 1, 2, 3], [], [], [3]]
    assert leader.forgotten() == [[], [3], [], []]


def test_a_session_that_is_lost_begins_with_everything(tmp_path: Path) -> None:
    def make() -> Leader:
        leader = Leader(tmp_path, nothing, nothing)
        answer: Callable[[Any], Awaitable[FetchResponse]] = leader.ask

        async def ask(request: Any) -> FetchResponse:
            response = await answer(request)
            if len(leader.requests) == 2:
                response.error_code = ErrorCode.FETCH_SESSION_ID_NOT_FOUND
            return response

        leader.ask = ask  # type: ignore[method-assign]
        return leader

    leader = start(make)
    assert leader.named() == [[0, 1, 2, 3], [], [0, 1, 2, 3]]
    assert [request.session_epoch for request in leader.requests] == [0, 1, 0]


def test_many_logs_are_opened_and_named_a_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetcher_module, "NAMED_MAX", 3)
    opened: list[list[bool]] = []

    def make() -> Leader:
        def look(_: FetchRequest) -> None:
            opened.append([partition.is_open for partition in leader.partitions])

        leader = Leader(tmp_path, look, look)
        return leader

    leader = start(make)
    assert leader.named() == [[0, 1, 2], [3], []]
    assert opened == [[True, True, True, False], [True] * 4]
    # Nobody waits for news before all are asked for.
    assert [request.max_wait_ms for request in leader.requests] == [0, 500, 500]


def test_a_log_that_cannot_be_opened_holds_up_no_other(tmp_path: Path) -> None:
    def make() -> Leader:
        leader = Leader(tmp_path, nothing)
        leader.partitions[1].end(ApiError(ErrorCode.KAFKA_STORAGE_ERROR))
        return leader

    assert start(make).named() == [[0, 2, 3], []]


@pytest.mark.parametrize(("leaders", "wait_ms"), [(2, 100), (20, 100), (60, 300), (199, 500)])
def test_who_follows_many_waits_longer_at_each(leaders: int, wait_ms: int) -> None:
    assert FetchLimits(wait_ms=100, wait_ms_max=500).wait_among(leaders) == wait_ms


def test_a_wait_that_was_set_is_kept_to() -> None:
    assert FetchLimits(wait_ms=50, wait_ms_max=50).wait_among(199) == 50
