"""A broker's standing with the controller, where the controller is silent."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from penstock.model.error import ErrorCode, PenstockError
from penstock.node.broker_lifecycle import BrokerLifecycle, LifecycleError
from penstock.protocol.entity import Entity
from penstock.protocol.messages.broker_heartbeat import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
)
from penstock.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from penstock.testing.simulation.loop import VirtualLoop

TAKEN = (
    "node.id 3 is taken by another process; "
    "it is free once that has been silent for broker.session.timeout.ms"
)


class Controller:
    """Lets the broker in, and then may be gone."""

    def __init__(self) -> None:
        self.is_gone = False

    async def ask(self, request: Entity) -> Any:
        if self.is_gone:
            raise PenstockError("nobody is there")
        if isinstance(request, BrokerHeartbeatRequest):
            return BrokerHeartbeatResponse(
                is_caught_up=True, is_fenced=request.want_fence, should_shut_down=False
            )
        return BrokerRegistrationResponse(broker_epoch=7)


async def joined(controller: Controller) -> BrokerLifecycle:
    lifecycle = BrokerLifecycle(
        BrokerRegistrationRequest(broker_id=1), controller.ask, lambda: 0, lambda: 2.0
    )
    await lifecycle.register(10.0)
    lifecycle.start()
    await lifecycle.unfence()
    return lifecycle


async def touched() -> list[bool]:
    """While a controller is there, and when it has been silent for as long as a session lasts."""
    controller = Controller()
    lifecycle = await joined(controller)
    await asyncio.sleep(100.0)
    found = [lifecycle.is_in_touch(9.0)]
    controller.is_gone = True
    await asyncio.sleep(6.0)
    found.append(lifecycle.is_in_touch(9.0))
    await asyncio.sleep(4.0)
    found.append(lifecycle.is_in_touch(9.0))
    controller.is_gone = False
    await asyncio.sleep(1.0)
    found.append(lifecycle.is_in_touch(9.0))
    await lifecycle.close()
    return found


def test_a_broker_knows_when_it_may_have_been_given_up() -> None:
    assert VirtualLoop(Random(1)).run_until_complete(touched()) == [True, True, False, True]


async def shut_down(hasten_after_s: float | None) -> tuple[bool, float]:
    """Whether the controller gave its leave, and how long that was waited for."""
    controller = Controller()
    lifecycle = await joined(controller)
    controller.is_gone = True
    loop = asyncio.get_running_loop()
    began = loop.time()
    if hasten_after_s is not None:
        loop.call_later(hasten_after_s, lifecycle.hasten)
    left = await lifecycle.shut_down(30.0)
    took_s = loop.time() - began
    await lifecycle.close()
    return left, took_s


def test_a_controller_that_is_gone_is_not_waited_for_long() -> None:
    left, took_s = VirtualLoop(Random(1)).run_until_complete(shut_down(None))
    assert not left
    assert 3.0 <= took_s < 4.0


def test_who_is_told_to_hurry_waits_no_longer() -> None:
    _, took_s = VirtualLoop(Random(1)).run_until_complete(shut_down(0.5))
    assert 0.5 <= took_s < 0.6


def test_who_was_told_before_does_not_wait_at_all() -> None:
    _, took_s = VirtualLoop(Random(1)).run_until_complete(shut_down(0.0))
    assert took_s < 0.1


def test_an_id_that_is_taken_is_told_at_once_and_at_the_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def refuse(request: Entity) -> Any:
        return BrokerRegistrationResponse(error_code=ErrorCode.DUPLICATE_BROKER_REGISTRATION)

    async def work() -> None:
        registration = BrokerRegistrationRequest(broker_id=3)
        lifecycle = BrokerLifecycle(registration, refuse, lambda: 0, lambda: 2.0)
        waiting = asyncio.create_task(lifecycle.register(60.0))
        await asyncio.sleep(1.0)
        assert [vars(one)["fields"] for one in caplog.records] == [{"reason": TAKEN}]
        with pytest.raises(LifecycleError, match=f"not registered within 60 s: {TAKEN}"):
            await waiting

    VirtualLoop(Random(1)).run_until_complete(work())


def test_a_directory_that_failed_is_told_at_once() -> None:
    async def work() -> None:
        told: list[list[bytes]] = []
        offline: list[bytes] = []

        class Listening(Controller):
            async def ask(self, request: Entity) -> Any:
                if isinstance(request, BrokerHeartbeatRequest):
                    told.append(request.offline_log_dirs)
                return await super().ask(request)

        controller = Listening()
        registration = BrokerRegistrationRequest(broker_id=1)
        lifecycle = BrokerLifecycle(
            registration, controller.ask, lambda: 0, lambda: 60.0, lambda: list(offline)
        )
        await lifecycle.register(10.0)
        lifecycle.start()
        await lifecycle.unfence()
        await asyncio.sleep(1)
        assert lifecycle.knows_directories and told[-1] == []
        controller.is_gone = True
        offline.append(b"d" * 16)
        lifecycle.beat_soon()
        await asyncio.sleep(5)
        assert not lifecycle.knows_directories
        controller.is_gone = False
        await asyncio.sleep(1)
        assert lifecycle.knows_directories and told[-1] == offline
        await lifecycle.close()

    VirtualLoop(Random(1)).run_until_complete(work())


def test_cordoned_directories_are_told_once_the_broker_has_caught_up() -> None:
    async def work() -> None:
        told: list[list[bytes] | None] = []
        cordoned: list[bytes] = []

        class Behind(Controller):
            is_level = False

            async def ask(self, request: Entity) -> Any:
                if isinstance(request, BrokerHeartbeatRequest):
                    told.append(request.cordoned_log_dirs)
                response = await super().ask(request)
                if isinstance(request, BrokerHeartbeatRequest):
                    response.is_caught_up = self.is_level
                return response

        controller = Behind()
        lifecycle = BrokerLifecycle(
            BrokerRegistrationRequest(broker_id=1),
            controller.ask,
            lambda: 0,
            lambda: 60.0,
            list,
            lambda: list(cordoned),
        )
        await lifecycle.register(10.0)
        lifecycle.start()
        await asyncio.sleep(1)
        assert set(map(str, told)) == {"None"}
        controller.is_level = True
        await lifecycle.wait_caught_up()
        await lifecycle.unfence()
        assert told[-1] == []
        cordoned.append(b"d" * 16)
        lifecycle.beat_soon()
        await asyncio.sleep(1)
        assert told[-1] == cordoned
        await lifecycle.close()

    VirtualLoop(Random(1)).run_until_complete(work())
