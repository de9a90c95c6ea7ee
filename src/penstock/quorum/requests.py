"""Requests of raft's that came from other nodes, until they are answered.

Owns who waits under which token, and puts the bytes of records and snapshots into answers: at the
moment of the answer, since the log may be another one a moment later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from itertools import count
from typing import NamedTuple

from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.entity import Entity
from penstock.quorum.calls import Received
from penstock.quorum.config import QuorumConfig
from penstock.quorum.metadata_log import MetadataLog
from penstock.raft.message import FetchAnswer, FetchSnapshotAnswer, RaftAnswer, RaftRequest
from penstock.records.header import Buffer

_PIECES = 8
"""How many times more than this node asks for at a time it gives to others."""


class _Waiting(NamedTuple):
    future: asyncio.Future[Received]
    bytes_max: int


class IncomingRequests:
    def __init__(self, config: QuorumConfig, log: MetadataLog) -> None:
        self._config = config
        self._log = log
        self._tokens = count(1)
        self._waiting: dict[Hashable, _Waiting] = {}

    async def ask(
        self, request: Entity, listener: str, receive: Callable[[RaftRequest, int], None]
    ) -> Entity:
        from penstock.quorum import wire

        try:
            wire.check_cluster(request, self._config.cluster_id)
            value = wire.decode_request(request)
            asked = getattr(request, "max_bytes", 0)
            bytes_max = max(1, min(asked, _PIECES * self._config.fetch_bytes_max))
            answer, data = await self.wait(lambda token: receive(value, token), bytes_max)
        except ApiError as error:
            return wire.encode_refusal(request, error.code)
        return wire.encode_answer(request, answer, data, listener)

    async def wait(self, ask: Callable[[int], None], bytes_max: int = 0) -> Received:
        token = next(self._tokens)
        future: asyncio.Future[Received] = asyncio.get_running_loop().create_future()
        self._waiting[token] = _Waiting(future, bytes_max)
        try:
            ask(token)
            return await future
        finally:
            self._waiting.pop(token, None)

    def answer(self, token: Hashable, answer: RaftAnswer) -> None:
        """Whoever asked may be gone."""
        waiting = self._waiting.get(token)
        if waiting is None or waiting.future.done():
            return
        try:
            data = self._data(answer, waiting.bytes_max)
        except ApiError:
            waiting.future.set_exception(ApiError(ErrorCode.BROKER_NOT_AVAILABLE))
        else:
            waiting.future.set_result(Received(answer, data))

    def fail(self, error: ApiError) -> None:
        for waiting in self._waiting.values():
            if not waiting.future.done():
                waiting.future.set_exception(error)

    def _data(self, answer: RaftAnswer, bytes_max: int) -> Buffer:
        if isinstance(answer, FetchAnswer) and answer.has_records:
            return self._log.read(answer.offset, bytes_max)
        if isinstance(answer, FetchSnapshotAnswer) and answer.error == ErrorCode.NONE:
            snapshots = self._log.snapshots
            return snapshots.read_chunk(answer.snapshot, answer.position, bytes_max).data
        return b""
