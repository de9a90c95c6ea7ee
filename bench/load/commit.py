"""Load process: groups that commit an offset over and over, several commits in flight each."""

from __future__ import annotations

import asyncio
import struct

import uvloop

from bench.load.child import Spec, serve
from bench.load.raw import RawClient, connect, wait_coordinators
from penstock.protocol.frame import decode_response, encode_request
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

VERSION = 9
IN_FLIGHT = 5
# Where the offset stands in the encoded request is found by a number that nothing else has.
_MARK = 0x0102030405060708


class Committer(RawClient):
    """Encodes its request once and changes the offset in it: the broker is measured, not this."""

    def __init__(self, group: str, topic: str) -> None:
        super().__init__()
        self.commits = 0
        self._good: bytes | None = None
        self._frame = bytearray(encode_request(0, VERSION, commit_request(group, topic, [_MARK])))
        self._at = self._frame.index(_MARK.to_bytes(8, "big"))
        self._offset = 0

    def begin(self) -> None:
        for _ in range(IN_FLIGHT):
            self._commit()

    def answered(self, frame: bytes) -> None:
        if frame != self._good:
            check(frame)
            self._good = frame
        self.commits += 1
        self._commit()

    def _commit(self) -> None:
        self._offset += 1
        struct.pack_into(">q", self._frame, self._at, self._offset)
        self.send(bytes(self._frame))


def commit_request(group: str, topic: str, offsets: list[int]) -> OffsetCommitRequest:
    """One offset for each partition; without a member, as administrators and simple consumers."""
    partitions = [
        OffsetCommitRequestPartition(partition_index=index, committed_offset=offset)
        for index, offset in enumerate(offsets)
    ]
    return OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=-1,
        topics=[OffsetCommitRequestTopic(name=topic, partitions=partitions)],
    )


def check(frame: bytes) -> None:
    assert OffsetCommitRequest.API_KEY is not None
    _, response = decode_response(OffsetCommitRequest.API_KEY, VERSION, frame)
    check_committed(response)


def check_committed(response: object) -> None:
    codes = {one.error_code for topic in response.topics for one in topic.partitions}  # type: ignore[attr-defined]
    if codes != {0}:
        raise RuntimeError(f"commits failed with error codes {sorted(codes)}")


async def _commit(spec: Spec) -> Spec:
    loop = asyncio.get_running_loop()
    failed: asyncio.Future[None] = loop.create_future()
    loop.set_exception_handler(lambda _, context: _fail(failed, context))
    groups = [f"commit-{number}" for number in range(spec["groups"])]
    await wait_coordinators(spec["port"], groups)
    committers = [Committer(group, spec["topic"]) for group in groups]
    for committer in committers:
        await connect(spec["port"], committer)
        committer.begin()
    await asyncio.wait([failed], timeout=spec["warmup_seconds"])
    before, began = sum(one.commits for one in committers), loop.time()
    await asyncio.wait([failed], timeout=spec["seconds"])
    if failed.done():
        failed.result()
    rate = (sum(one.commits for one in committers) - before) / (loop.time() - began)
    return {"commits_per_s": rate, "commits": sum(one.commits for one in committers)}


def _fail(failed: asyncio.Future[None], context: dict[str, object]) -> None:
    if not failed.done():
        failed.set_exception(RuntimeError(f"{context['message']}: {context.get('exception')}"))


def commit(spec: Spec) -> Spec:
    uvloop.install()
    return asyncio.run(_commit(spec))


if __name__ == "__main__":
    serve(commit)
