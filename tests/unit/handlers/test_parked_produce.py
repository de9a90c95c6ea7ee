"""Parked produces: in turn, with bytes of their own, and not without end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from penstock.handlers.call import ClientState
from penstock.handlers.parked_produce import Answered, ParkedProduces
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.produce import PartitionProduceData


class Stand:
    """Produces that run until they are let go, and what they did."""

    def __init__(self, bytes_max: int = 100) -> None:
        self.parked = ParkedProduces(bytes_max)
        self.client = ClientState("127.0.0.1:1")
        self.did: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}

    def park(
        self, name: str, size: int = 10, client: ClientState | None = None, acks: int = -1
    ) -> asyncio.Task[str]:
        data = PartitionProduceData(records=memoryview(bytearray(size)))
        coroutine = self.parked.park(
            client or self.client, [data], self._produce(name), unanswered=acks == 0
        )
        return asyncio.get_running_loop().create_task(coroutine)

    def _produce(self, name: str) -> Callable[[], Coroutine[Any, Any, Answered[str]]]:
        self.gates[name] = asyncio.Event()

        async def answer() -> str:
            return name

        async def produce() -> Answered[str]:
            self.did.append(f"{name} begins")
            await self.gates[name].wait()
            self.did.append(f"{name} ends")
            return answer

        return produce


def run(test: Callable[[Stand], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        await test(Stand())

    asyncio.run(main())


async def turn() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_one_client_goes_in_turn_and_others_beside_it() -> None:
    async def test(stand: Stand) -> None:
        first, second = stand.park("a"), stand.park("b")
        other = stand.park("c", client=ClientState("127.0.0.1:2"))
        assert stand.client.parked_produces == 2
        await turn()
        assert stand.did == ["a begins", "c begins"]
        stand.gates["b"].set()
        stand.gates["c"].set()
        await turn()
        assert stand.did[2:] == ["c ends"]
        stand.gates["a"].set()
        assert await asyncio.gather(first, second, other) == ["a", "b", "c"]
        assert stand.did[3:] == ["a ends", "b begins", "b ends"]
        assert stand.client.parked_produces == 0

    run(test)


def test_what_is_parked_is_copied() -> None:
    async def test(stand: Stand) -> None:
        frame = bytearray(b"records")
        data = PartitionProduceData(records=memoryview(frame))
        coroutine = stand.parked.park(stand.client, [data], stand._produce("a"), unanswered=False)
        frame[:] = b"another"
        assert bytes(data.records or b"") == b"records"
        stand.gates["a"].set()
        await coroutine

    run(test)


def test_what_waits_is_bounded() -> None:
    """Somebody is always let in, however large; whoever is too much may try again."""

    async def test(stand: Stand) -> None:
        first = stand.park("a", 500)
        with pytest.raises(ApiError) as caught:
            stand.park("b", 1)
        assert caught.value.code is ErrorCode.NOT_ENOUGH_REPLICAS
        assert stand.client.parked_produces == 1
        stand.gates["a"].set()
        await first
        second, third = stand.park("c", 60), stand.park("d", 40)
        with pytest.raises(ApiError):
            stand.park("e", 1)
        await turn()
        second.cancel()
        await turn()
        stand.gates["d"].set()
        assert await third == "d"
        assert stand.client.parked_produces == 0
        last = stand.park("f", 100)
        stand.gates["f"].set()
        assert await last == "f"

    run(test)


@pytest.mark.parametrize(("acks", "done"), [(0, True), (-1, False)])
def test_a_connection_that_closes(acks: int, done: bool) -> None:
    """It takes back what it would have had an answer to, and only that."""

    async def test(stand: Stand) -> None:
        task = stand.park("a", acks=acks)
        await turn()
        task.cancel()
        stand.gates["a"].set()
        await turn()
        assert task.cancelled()
        assert ("a ends" in stand.did) is done
        assert stand.client.parked_produces == 0

    run(test)
