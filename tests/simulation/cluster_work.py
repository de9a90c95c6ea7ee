"""Those who work with a simulated cluster, and tell the history of what they did and saw."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.peer.error import PeerError
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.init_producer_id import InitProducerIdRequest
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from penstock.testing.history import Event, Outcome, Poll, Produce, Seen
from tests.simulation.cluster_kit import CALL_S, ClusterClient, Refused

PAUSE_S = 0.3
ACKS_ALL = -1

OnAcked = Callable[[TopicPartition, int, bytes], None]


class Worker(Protocol):
    async def run(self) -> None: ...


class Writer:
    """Sends each content once, and knows what became of it as far as it was told. Only with
    acks=all does an answer promise anything."""

    def __init__(
        self,
        client: ClusterClient,
        name: str,
        partitions: Sequence[TopicPartition],
        history: list[Event],
        on_acked: OnAcked,
        acks: int = ACKS_ALL,
    ) -> None:
        self._client = client
        self._name = name
        self._partitions = partitions
        self._history = history
        self._on_acked = on_acked
        self._acks = acks
        self._number = 0
        self._life = 0
        self.acked = 0
        self.is_ending = False

    async def run(self) -> None:
        random = self._client.cluster.random
        while not self.is_ending:
            where = random.choice(self._partitions)
            await self._write(where, self._new_contents())
            await asyncio.sleep(random.uniform(0, PAUSE_S))

    def _new_contents(self) -> list[bytes]:
        random = self._client.cluster.random
        self._number += 1
        return [
            b"%s/%d/%d/" % (self._name.encode(), self._number, place) + b"." * random.randrange(300)
            for place in range(random.randint(1, 3))
        ]

    async def _write(self, where: TopicPartition, contents: list[bytes]) -> None:
        began_s = self._client.cluster.now_s
        self._note(where, contents, began_s, Outcome.UNKNOWN)
        try:
            offset = await self._client.send(where, *contents, acks=self._acks)
        except PeerError as error:
            if isinstance(error, Refused) and error.code is ErrorCode.NOT_ENOUGH_REPLICAS:
                self._note(where, contents, began_s, Outcome.FAILED)
            # What was given up may still arrive, behind what is sent next.
            self._life += 1
            return
        self.acked += 1
        if self._acks == ACKS_ALL:
            self._note(where, contents, began_s, Outcome.OK, offset)
            self._on_acked(where, offset, contents[0])

    def _note(
        self,
        where: TopicPartition,
        contents: list[bytes],
        began_s: float,
        outcome: Outcome,
        offset: int | None = None,
    ) -> None:
        for place, content in enumerate(contents):
            self._history.append(
                Produce(
                    process=f"{self._name}.{self._life}",
                    began_s=began_s,
                    ended_s=self._client.cluster.now_s,
                    partition=where,
                    value=content.decode(),
                    outcome=outcome,
                    offset=None if offset is None else offset + place,
                )
            )


class IdempotentWriter(Writer):
    """Sends the same batch again until it is told where it stands."""

    async def run(self) -> None:
        self._producer_id, self._epoch = await self._begin()
        self._sequences = dict.fromkeys(self._partitions, 0)
        await super().run()

    async def _begin(self) -> tuple[int, int]:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
        while True:
            with suppress(PeerError):
                response: Any = await self._client.any().call(request, timeout_s=CALL_S)
                if not response.error_code:
                    return response.producer_id, response.producer_epoch
            await asyncio.sleep(0.2)

    async def _write(self, where: TopicPartition, contents: list[bytes]) -> None:
        began_s = self._client.cluster.now_s
        self._note(where, contents, began_s, Outcome.UNKNOWN)
        offset = await self._send(where, contents)
        self._sequences[where] += len(contents)
        self.acked += 1
        self._note(where, contents, began_s, Outcome.OK, offset)
        if offset is not None:
            self._on_acked(where, offset, contents[0])

    async def _send(self, where: TopicPartition, contents: list[bytes]) -> int | None:
        while True:
            try:
                return await self._client.send(
                    where,
                    *contents,
                    producer_id=self._producer_id,
                    producer_epoch=self._epoch,
                    base_sequence=self._sequences[where],
                )
            except Refused as error:
                assert error.code not in (
                    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                    ErrorCode.UNKNOWN_PRODUCER_ID,
                    ErrorCode.INVALID_PRODUCER_EPOCH,
                ), f"{self._name} at {where}: {error}"
                if error.code is ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
                    return None
            except PeerError:
                pass
            await asyncio.sleep(0.1)


class Reader:
    """Reads one partition from its beginning, up to the high watermark."""

    def __init__(
        self, client: ClusterClient, name: str, where: TopicPartition, history: list[Event]
    ) -> None:
        self._client = client
        self._name = name
        self._where = where
        self._history = history
        self.position = 0

    async def run(self) -> None:
        cluster = self._client.cluster
        while True:
            began_s = cluster.now_s
            try:
                records, high_watermark = await self._client.poll(self._where, self.position, 500)
            except PeerError as error:
                if isinstance(error, Refused) and error.code is ErrorCode.OFFSET_OUT_OF_RANGE:
                    raise AssertionError(
                        f"{self._name} stands at {self.position} of {self._where}: out of range"
                    ) from error
                await asyncio.sleep(0.1)
                continue
            if not records:
                continue
            seen = tuple(Seen(one.offset, (one.value or b"").decode()) for one in records)
            self.position = seen[-1].offset + 1
            assert self.position <= high_watermark, f"{self._where}: read what is not committed"
            self._history.append(
                Poll(
                    process=self._name,
                    began_s=began_s,
                    ended_s=cluster.now_s,
                    partition=self._where,
                    records=seen,
                )
            )


class Creator:
    """Creates one topic after another."""

    def __init__(self, client: ClusterClient) -> None:
        self._client = client
        self.created: list[str] = []

    async def run(self) -> None:
        random = self._client.cluster.random
        number = 0
        while True:
            await asyncio.sleep(random.uniform(1, 8))
            number += 1
            with suppress(PeerError):
                await self._client.try_create(f"new{number}", 1, min_insync_replicas="2")
                self.created.append(f"new{number}")


class Committer:
    """Commits one number higher each time, for a group without members. A commit that was not
    answered may still arrive, behind later ones: what follows is committed for another group."""

    def __init__(self, client: ClusterClient, name: str, where: TopicPartition) -> None:
        self._client = client
        self._name = name
        self._where = where
        self._coordinator: Any = None
        self.groups: list[tuple[int, int]] = [(-1, -1)]
        """Of each group the last number acknowledged and the last one sent."""

    async def run(self) -> None:
        number = 0
        while True:
            number += 1
            acked = self.groups[-1][0]
            self.groups[-1] = acked, number
            try:
                await self._commit(number)
                self.groups[-1] = number, number
            except PeerError:
                self.groups.append((-1, -1))
            await asyncio.sleep(self._client.cluster.random.uniform(0, PAUSE_S))

    async def _commit(self, number: int) -> None:
        one = OffsetCommitRequestPartition(
            partition_index=self._where.partition, committed_offset=number
        )
        topic = OffsetCommitRequestTopic(name=self._where.topic, partitions=[one])
        group = self._group(len(self.groups) - 1)
        response = await self._ask(group, OffsetCommitRequest(group_id=group, topics=[topic]))
        self._check(response.topics[0].partitions[0].error_code)

    async def fetch(self, index: int) -> int:
        """What is committed; until somebody says it."""
        topic = OffsetFetchRequestTopics(
            name=self._where.topic, partition_indexes=[self._where.partition]
        )
        group = self._group(index)
        asked = OffsetFetchRequestGroup(group_id=group, topics=[topic])
        while True:
            with suppress(PeerError):
                response = await self._ask(group, OffsetFetchRequest(groups=[asked]))
                (found,) = response.groups
                self._check(found.error_code)
                return int(found.topics[0].partitions[0].committed_offset)
            await asyncio.sleep(0.1)

    def _group(self, index: int) -> str:
        return f"{self._name}.{index}"

    async def _ask(self, group: str, request: Any) -> Any:
        if self._coordinator is None or self._coordinator[0] != group:
            find = FindCoordinatorRequest(key_type=0, coordinator_keys=[group])
            found: Any = await self._client.any().call(find, version=4, timeout_s=CALL_S)
            (coordinator,) = found.coordinators
            if coordinator.error_code:
                raise Refused(coordinator.error_code)
            self._coordinator = group, self._client.peer(coordinator.node_id)
        try:
            return await self._coordinator[1].call(request, version=9, timeout_s=CALL_S)
        except PeerError:
            self._coordinator = None
            raise

    def _check(self, code: int) -> None:
        if code:
            self._coordinator = None
            raise Refused(code)
