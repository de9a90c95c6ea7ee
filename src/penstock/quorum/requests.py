"""Requests of raft's that came from other nodes, until they are answered.

Owns who waits under which token, and puts the bytes of records and snapshots into answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from itertools import count

from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.entity import Entity
from penstock.quorum.config import QuorumConfig
from penstock.quorum.metadata_log import MetadataLog
from penstock.raft.message import FetchAnswer, FetchSnapshotAnswer, RaftAnswer, RaftRequest
from penstock.records.header import Buffer


class IncomingRequests:
    def __init__(self, config: QuorumConfig, log: MetadataLog) -> None:
        self._config = config
        self._log = log
        self._tokens = count(1)
        self._waiting: dict[Hashable, asyncio.Future[RaftAnswer]] = {}

    async def ask(
        self, request: Entity, listener: str, receive: Callable[[RaftRequest, int], None]
    ) -> Entity:
        from penstock.quorum import wire

        try:
            wire.check_cluster(request, self._config.cluster_id)
            value = wire.decode_request(request)
            answer = await self.wait(lambda token: receive(value, token))
        except ApiError as error:
            return wire.encode_refusal(request, error.code)
        try:
            data = self._data(request, answer)
        except ApiError as error:
            answer, data = answer._replace(error=error.code), b""
        return wire.encode_answer(request, answer, data, listener)

    async def wait(self, ask: Callable[[int], None]) -> RaftAnswer:
        token = next(self._tokens)
        future: asyncio.Future[RaftAnswer] = asyncio.get_running_loop().create_future()
        self._waiting[token] = future
        try:
            ask(token)
            return await future
        finally:
            self._waiting.pop(token, None)

    def answer(self, token: Hashable, answer: RaftAnswer) -> None:
        """Whoever asked may be gone."""
        waiting = self._waiting.get(token)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    def fail(self, error: ApiError) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(error)

    def _data(self, request: Entity, answer: RaftAnswer) -> Buffer:
        if isinstance(answer, FetchAnswer) and answer.has_records:
            return self._log.read(answer.offset, self._bytes_max(request))
        if isinstance(answer, FetchSnapshotAnswer) and answer.error == ErrorCode.NONE:
            bytes_max = self._bytes_max(request)
            return self._log.snapshots.read_chunk(answer.snapshot, answer.position, bytes_max).data
        return b""

    def _bytes_max(self, request: Entity) -> int:
        """What this node would ask for itself is also what it gives at most at a time."""
        asked: int = getattr(request, "max_bytes", 0)
        return max(1, min(asked, 8 * self._config.fetch_bytes_max))
