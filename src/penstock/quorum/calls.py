"""Requests of raft's on their way to other nodes, and what comes back.

Owns a task for each. Whether anything is asked again is raft's to say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from penstock.model.error import ApiError, ErrorCode, ProtocolError
from penstock.quorum.channel import Channel, ChannelError
from penstock.quorum.config import QuorumConfig
from penstock.raft import RaftEndpoint, SendRequest
from penstock.raft.message import RaftAnswer
from penstock.records.header import Buffer
from penstock.telemetry.log import get_logger

log = get_logger("quorum")


class Received(NamedTuple):
    answer: RaftAnswer
    data: Buffer = b""
    """Records, or a piece of a snapshot."""


class OutgoingCalls:
    def __init__(
        self,
        config: QuorumConfig,
        channel: Channel,
        on_answer: Callable[[int, Received], None],
        on_failure: Callable[[int, bool, bool], None],
    ) -> None:
        self._config = config
        self._channel = channel
        self._on_answer = on_answer
        self._on_failure = on_failure
        self._tasks: dict[asyncio.Task[None], None] = {}

    def send(self, sent: SendRequest) -> None:
        task = asyncio.create_task(self._call(sent), name=f"raft-{type(sent.request).__name__}")
        self._tasks[task] = None
        task.add_done_callback(lambda done: self._tasks.pop(done, None))

    async def _call(self, sent: SendRequest) -> None:
        try:
            received = await self._ask(sent)
        except (ChannelError, ApiError, ProtocolError, ValueError) as error:
            unsupported = (isinstance(error, ChannelError) and error.unsupported) or (
                isinstance(error, ApiError) and error.code == ErrorCode.UNSUPPORTED_VERSION
            )
            log.debug("no answer", to=sent.node.id, reason=str(error))
            refused = isinstance(error, ChannelError) and error.refused
            self._on_failure(sent.request_id, unsupported, refused)
        else:
            self._on_answer(sent.request_id, received)

    async def _ask(self, sent: SendRequest) -> Received:
        from penstock.quorum.wire import decode_answer, encode_request

        endpoint = self._endpoint(sent)
        request, version = encode_request(
            sent.request, self._config.cluster_id, self._config.fetch_bytes_max
        )
        timeout_s = self._config.raft.request_timeout_ms / 1000
        response = await self._channel.call(endpoint, request, version=version, timeout_s=timeout_s)
        return decode_answer(sent.request, response, self._config.listener)

    def _endpoint(self, sent: SendRequest) -> RaftEndpoint:
        from penstock.quorum.wire_part import endpoint_on

        found = endpoint_on(sent.node.endpoints, self._config.listener)
        if found is None:
            raise ChannelError(f"node {sent.node.id} has no listener {self._config.listener}")
        return found

    async def close(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
