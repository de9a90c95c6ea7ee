"""Who the controllers are is told to whom may administer the cluster."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from penstock.handlers.api import describe_cluster
from penstock.handlers.authorization.asked import Asked
from penstock.handlers.authorization.metadata import GUARDS
from penstock.handlers.call import Call, ClientState
from penstock.metadata.image import ClusterImage
from penstock.model.acl import Operation
from penstock.model.error import ErrorCode
from penstock.protocol.messages.describe_cluster import DescribeClusterRequest
from penstock.protocol.messages.records.register_controller_record import (
    ControllerEndpoint,
    RegisterControllerRecord,
)

CONTROLLERS = 2


def ask(allowed: Operation, version: int = 2, leader_id: int | None = 3, view: Any = None) -> Any:
    image = ClusterImage()
    for each in (1, 3):
        points = [
            ControllerEndpoint(name="CONTROLLER", host=f"host-{each}", port=9093),
            ControllerEndpoint(name="OTHER", host=f"host-{each}", port=9094),
        ]
        image.controllers[each] = RegisterControllerRecord(controller_id=each, end_points=points)
    broker = SimpleNamespace(
        cluster_id="c",
        controller_listeners=frozenset({"CONTROLLER"}),
        image=image,
        node_id=1,
        quorum=SimpleNamespace(view=view or SimpleNamespace(leader_id=leader_id)),
    )
    access = SimpleNamespace(may=lambda operation, kind, name: operation is allowed)
    call = Call(ClientState("127.0.0.1:1", "CONTROLLER"), version)
    asked = Asked(cast(Any, broker), call, cast(Any, access), describe_cluster.handle)
    request = DescribeClusterRequest(endpoint_type=CONTROLLERS if version else 1)
    return GUARDS[60](asked, request)


@pytest.mark.parametrize("allowed", [Operation.DESCRIBE, Operation.CLUSTER_ACTION])
def test_others_are_refused(allowed: Operation) -> None:
    told = ask(allowed)
    assert told.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert list(told.brokers) == []


def test_who_leads_is_one_of_those_that_are_told() -> None:
    told = ask(Operation.ALTER)
    found = [(one.broker_id, one.host, one.port) for one in told.brokers]
    assert found == [(1, "host-1", 9093), (3, "host-3", 9093)]
    assert told.controller_id == 3


@pytest.mark.parametrize("leader_id", [None, 2])
def test_where_nobody_leads_the_answer_waits_a_moment(
    monkeypatch: pytest.MonkeyPatch, leader_id: int | None
) -> None:
    """Until the one that does has registered."""
    monkeypatch.setattr(describe_cluster, "PATIENCE_S", 0.05)
    assert asyncio.run(ask(Operation.ALTER, leader_id=leader_id)).controller_id == -1
    monkeypatch.setattr(describe_cluster, "PATIENCE_S", 60)
    leading = SimpleNamespace(leader_id=leader_id)
    waiting = ask(Operation.ALTER, view=leading)

    async def elect() -> Any:
        asking = asyncio.ensure_future(waiting)
        await asyncio.sleep(0.05)
        assert not asking.done()
        leading.leader_id = 3
        return await asking

    assert asyncio.run(elect()).controller_id == 3


def test_who_cannot_say_what_they_ask_for_means_brokers() -> None:
    assert ask(Operation.ALTER, version=0).error_code == ErrorCode.INVALID_REQUEST
