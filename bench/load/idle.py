"""Load process: thousands of consumers that wait at the end of a partition, as Kafka's clients do.

Each opens a fetch session and then repeats an incremental fetch; the broker answers it empty after
the longest wait. A broker that is out of session slots answers session 0 and gets full fetches.
"""

from __future__ import annotations

import asyncio
import resource
import struct
from functools import partial

from bench.load.child import Spec, say_ready, serve
from tools import wire

MAX_WAIT_MS = 500


class IdleConsumer(asyncio.Protocol):
    def __init__(self, topic: str, partition: int) -> None:
        self._where = [(topic, partition, 0)]
        self._session_id = 0
        self._epoch = 0
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self.answers = 0
        self.lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._fetch()

    def connection_lost(self, _: Exception | None) -> None:
        self.lost = True

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while len(self._buffer) >= 4:
            (length,) = struct.unpack_from(">i", self._buffer)
            if len(self._buffer) < 4 + length:
                return
            answer = bytes(self._buffer[8 : 4 + length])
            del self._buffer[: 4 + length]
            self._answered(answer)

    def _answered(self, answer: bytes) -> None:
        error, session_id = wire.decode_fetched(answer)
        self.answers += 1
        # Any session error means that the session is gone: begin a new one.
        self._session_id = 0 if error else session_id
        self._epoch = self._epoch + 1 if self._session_id else 0
        self._fetch()

    def _fetch(self) -> None:
        body = wire.fetch_body(
            [] if self._session_id else self._where,
            max_wait_ms=MAX_WAIT_MS,
            session_id=self._session_id,
            session_epoch=self._epoch,
        )
        assert self._transport is not None
        self._transport.write(wire.encode_request(wire.FETCH, 1, body))


def _same(consumer: IdleConsumer) -> IdleConsumer:
    return consumer


async def _wait_idle(spec: Spec) -> Spec:
    loop = asyncio.get_running_loop()
    consumers = []
    for number in range(spec["consumers"]):
        consumer = IdleConsumer(spec["topic"], number % spec["partitions"])
        await loop.create_connection(partial(_same, consumer), "127.0.0.1", spec["port"])
        consumers.append(consumer)
    say_ready()
    before = sum(consumer.answers for consumer in consumers)
    await asyncio.sleep(spec["seconds"])
    answers = sum(consumer.answers for consumer in consumers) - before
    return {
        "answers_per_s": answers / spec["seconds"],
        "lost": sum(consumer.lost for consumer in consumers),
    }


def idle(spec: Spec) -> Spec:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return asyncio.run(_wait_idle(spec))


if __name__ == "__main__":
    serve(idle)
