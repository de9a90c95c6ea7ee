"""Who asks for a leader that has just died waits for the next one, and for nothing else."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from penstock.metadata.broker import BrokerImage
from penstock.replication import lost_leaders
from penstock.replication.lost_leaders import LostLeaders
from penstock.testing.simulation.loop import VirtualLoop

ID = 7


class World:
    """`refuses_from`: at which look the port begins to refuse; None: never."""

    def __init__(self, refuses_from: int | None) -> None:
        self.looks = 0
        self._refuses_from = refuses_from
        self.brokers = {ID: BrokerImage(ID, 5, bytes(16), (), fenced=False)}
        self.lost = LostLeaders(self.brokers, self.is_gone)

    async def is_gone(self, broker_id: int) -> bool:
        assert broker_id == ID
        self.looks += 1
        return self._refuses_from is not None and self.looks >= self._refuses_from

    def fence(self) -> None:
        self.brokers[ID] = self.brokers[ID].with_fenced(True)


async def is_waiting(waiting: asyncio.Task[None]) -> bool:
    await asyncio.sleep(0.1)
    return not waiting.done()


@pytest.mark.parametrize("refuses_from", [1, 3])
def test_waits_for_the_election(refuses_from: int) -> None:
    async def story() -> None:
        world = World(refuses_from)
        assert not world.lost
        world.lost.suspect(ID)
        assert world.lost and world.lost.among([1, ID]) == {ID}
        assert world.lost.among([1]) == set()
        waiting = asyncio.create_task(world.lost.wait_replaced({ID}))
        assert await is_waiting(waiting)
        world.fence()
        await waiting
        assert not world.lost

    VirtualLoop(Random(1)).run_until_complete(story())


def test_a_broker_that_is_there_is_not_waited_for_long() -> None:
    async def story() -> None:
        world = World(None)
        world.lost.suspect(ID)
        await world.lost.wait_replaced({ID})
        assert world.looks == lost_leaders.LOOKS_UNREFUSED and not world.lost

    VirtualLoop(Random(1)).run_until_complete(story())


def test_one_that_nobody_replaces_is_waited_for_once() -> None:
    async def story() -> None:
        world = World(1)
        world.lost.suspect(ID)
        await world.lost.wait_replaced({ID})
        world.lost.suspect(ID)
        assert not world.lost

    VirtualLoop(Random(1)).run_until_complete(story())


def test_who_is_fenced_already_is_not_suspected() -> None:
    async def story() -> None:
        world = World(1)
        world.fence()
        world.lost.suspect(ID)
        world.lost.suspect(ID + 1)
        assert not world.lost

    VirtualLoop(Random(1)).run_until_complete(story())


def test_closing_ends_every_wait() -> None:
    async def story() -> None:
        world = World(1)
        world.lost.suspect(ID)
        waiting = asyncio.create_task(world.lost.wait_replaced({ID}))
        assert await is_waiting(waiting)
        await world.lost.close()
        await waiting
        world.lost.suspect(ID)
        assert not world.lost

    VirtualLoop(Random(1)).run_until_complete(story())


def test_a_broker_that_was_in_service_stays_listed_for_a_moment() -> None:
    async def story() -> None:
        world = World(1)
        world.lost.note_changed([ID])
        assert world.lost.still_listed() == []
        world.fence()
        world.lost.note_changed([ID])
        assert world.lost.still_listed() == [ID]
        await asyncio.sleep(lost_leaders.LINGER_S)
        assert world.lost.still_listed() == []

    VirtualLoop(Random(1)).run_until_complete(story())


def test_one_that_has_just_registered_is_not_listed_yet() -> None:
    async def story() -> None:
        world = World(1)
        world.fence()
        world.lost.note_changed([ID, ID + 1])
        assert world.lost.still_listed() == []

    VirtualLoop(Random(1)).run_until_complete(story())


def test_one_that_is_back_or_unregistered_does_not_linger() -> None:
    async def story() -> None:
        world = World(1)
        world.lost.suspect(ID)
        world.fence()
        world.lost.note_changed([ID])
        assert world.lost.still_listed() == [ID]
        del world.brokers[ID]
        world.lost.note_changed([ID])
        assert world.lost.still_listed() == []
        await world.lost.close()

    VirtualLoop(Random(1)).run_until_complete(story())
