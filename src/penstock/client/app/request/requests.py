"""An instance that asks: its reply topic, the requests that wait, and their time."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

from confluent_kafka.admin import NewTopic

from penstock.client.app.codec import Decode, encode
from penstock.client.app.handling import TTL_HEADER
from penstock.client.app.instance import Instance
from penstock.client.app.output import Output
from penstock.client.app.request.header import CORRELATION, REPLY_ERROR, REPLY_TOPIC
from penstock.client.app.request.reply_reader import ReplyReader
from penstock.client.app.topics import TIMEOUT_S, make_topic
from penstock.client.claim.check import ClaimCheck
from penstock.client.claim.reference import CLAIM_HEADER
from penstock.client.dead_letter import AnyHeaders, text_of
from penstock.client.error import DecodeError, RequestError, RequestTimeoutError
from penstock.client.record import Headers, encode_headers, encode_key

WAITING_MAX = 10_000
_RETENTION_MS = 3_600_000
"""Nobody waits for longer; the topic only bridges the moment between answer and reader."""


class Requests:
    def __init__(self, app: str, settings: dict[str, Any], claim_check: ClaimCheck | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._settings = settings
        self._claim_check = claim_check
        self._instance = Instance(f"{app}.replies")
        self.topic = self._instance.name
        self._waiting: dict[str, asyncio.Future[Any]] = {}
        self._output: Output | None = None
        self._reader: ReplyReader | None = None
        self._opening: asyncio.Task[None] | None = None

    async def request(
        self,
        topic: str,
        value: Any,
        key: str | bytes | None,
        headers: Headers | None,
        timeout_ms: int,
        decode: Decode,
    ) -> Any:
        if len(self._waiting) >= WAITING_MAX:
            raise RequestError(f"{topic}: {WAITING_MAX} requests wait for an answer already")
        correlation = uuid.uuid4().hex
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._waiting[correlation] = answer
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                output = await self._opened()
                named: AnyHeaders = [
                    *encode_headers(headers),
                    (REPLY_TOPIC, self.topic),
                    (CORRELATION, correlation),
                    # Whoever comes to it later need not begin.
                    (TTL_HEADER, str(timeout_ms)),
                ]
                await output.send(topic, encode_key(key), encode(value), named)
                return await self._decoded(topic, await answer, decode)
        except TimeoutError:
            raise RequestTimeoutError(f"{topic}: no answer in {timeout_ms} ms") from None
        finally:
            del self._waiting[correlation]

    async def _opened(self) -> Output:
        """By the first request, for all; one that has no time left does not end it."""
        while self._output is None:
            if self._opening is None or self._opening.done():
                self._opening = asyncio.create_task(self._open())
            await asyncio.shield(self._opening)
        return self._output

    async def _open(self) -> None:
        topic = NewTopic(
            self.topic,
            num_partitions=1,
            replication_factor=-1,
            config={"retention.ms": str(_RETENTION_MS)},
        )
        await asyncio.to_thread(make_topic, self._settings, topic, TIMEOUT_S)
        self._reader = ReplyReader(self._settings, self.topic, self._loop, self._on_replies)
        await asyncio.to_thread(self._reader.open)
        self._output = Output(self._settings, self._loop)

    def _on_replies(self, records: list[Any]) -> None:
        for each in records:
            correlation = text_of(each.headers() or [], CORRELATION)
            answer = self._waiting.get(correlation or "")
            # Too late, a second time, or for another process that has our name.
            if answer is not None and not answer.done():
                answer.set_result(each)

    async def _decoded(self, topic: str, record: Any, decode: Decode) -> Any:
        headers, value = record.headers() or [], record.value()
        error = text_of(headers, REPLY_ERROR)
        if error is not None:
            raise RequestError(f"{topic}: the request failed: {error}")
        if self._claim_check is not None and text_of(headers, CLAIM_HEADER) is not None:
            value = await asyncio.to_thread(self._claim_check.check_out, value)
        try:
            return None if value is None else decode(value)
        except ValueError as error_:
            place = (record.topic(), record.partition(), record.offset())
            raise DecodeError(*place, value, f"cannot be decoded: {error_}") from error_

    async def close(self) -> None:
        for each in self._waiting.values():
            each.cancel()
        if self._opening is not None:
            await asyncio.gather(self._opening, return_exceptions=True)
        if self._reader is not None:
            await asyncio.to_thread(self._reader.close)
        if self._output is not None:
            await asyncio.to_thread(self._output.close)
        self._instance.close()
