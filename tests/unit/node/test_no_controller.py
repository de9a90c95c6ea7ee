"""What a node says that finds no controller: why, and where to look."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.node.controller_channel import ControllerChannel, NoController
from penstock.node.identity import Identity
from penstock.node.membership import ControllerRegistration
from penstock.node.raft_channel import PeerChannel
from penstock.peer.dialer import SocketDialer
from penstock.protocol.entity import Entity
from penstock.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from penstock.protocol.messages.vote import VoteRequest, VoteResponse
from penstock.quorum.channel import ChannelError
from penstock.raft import RaftEndpoint
from penstock.testing.port import free_port
from tests.unit.peer.peer_kit import answer, run, standing


async def no_answer(request: Entity) -> None:
    raise AssertionError("this node leads nothing")


async def why(port: int) -> str:
    """What somebody hears who asks for the controller after raft has asked at this port."""
    raft = PeerChannel(SocketDialer(), 1, lambda: 0.5)
    controller = ControllerChannel(
        1, SocketDialer(), lambda: 0.5, lambda: None, no_answer, lambda: raft.trouble
    )
    endpoint = RaftEndpoint("CONTROLLER", "127.0.0.1", port)
    try:
        await raft.call(endpoint, VoteRequest(topics=[]), version=None, timeout_s=20)
    except ChannelError:
        pass
    with pytest.raises(NoController) as told:
        await controller.call(BrokerHeartbeatRequest(), 0.001)
    raft.close()
    controller.close()
    return str(told.value)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (ErrorCode.INCONSISTENT_CLUSTER_ID, "is of another cluster: see cluster.id in"),
        (ErrorCode.NONE, "no controller is known"),
    ],
)
def test_one_that_refuses_and_one_that_does_not(code: ErrorCode, reason: str) -> None:
    async def work() -> None:
        said = VoteResponse(error_code=code, topics=[])
        async with standing(lambda header, _: answer(header, said)) as stand:
            assert reason in await why(stand.port)

    run(work())


def test_one_that_is_not_there_is_named_with_its_address() -> None:
    async def work() -> None:
        port = free_port()
        said = await why(port)
        assert said.startswith(f"no controller answers (127.0.0.1:{port}: ")
        assert said.endswith(": see controller.quorum.* in the settings")

    run(work())


def test_a_controller_says_each_reason_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Voters that are away take turns in being asked."""
    reasons = iter([None, "nobody at 1", "nobody at 2"] * 3)
    registered = asyncio.Event()
    images: Any = SimpleNamespace(image=SimpleNamespace(features={}, controllers={}))

    def trouble() -> str | None:
        reason = next(reasons, "over")
        if reason == "over":
            registered.set()
        return reason

    async def work() -> None:
        channel = ControllerChannel(
            1, SocketDialer(), lambda: 0.5, lambda: None, no_answer, trouble
        )
        identity = Identity("cluster", 1, bytes(16))
        registration = ControllerRegistration(identity, [], bytes(16), images, channel)
        running = asyncio.create_task(registration.run())
        await registered.wait()
        running.cancel()

    monkeypatch.setattr("penstock.node.membership.REGISTRATION_RETRY_S", 0)
    run(work())
    told = [vars(each)["fields"]["reason"] for each in caplog.records]
    assert told[:2] == ["nobody at 1", "nobody at 2"] and len(set(told)) == len(told)
