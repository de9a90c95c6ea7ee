"""Kafka's tools at the controllers themselves, also at those that do not lead (KIP-919)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.protocol.messages.describe_cluster import DescribeClusterRequest
from tests.conformance.conftest import Cluster
from tests.node.wire_kit import Wire
from tests.patience import wait_until
from tools.tool_host import shared_tool_host

pytestmark = pytest.mark.java

SETTING = "log.cleaner.backoff.ms"
Tool = Callable[..., str]


def registered(port: int) -> list[int]:
    """The controllers, once the active one is among those that are told at this one."""
    with Wire(f"127.0.0.1:{port}") as wire:
        told = wire.call(DescribeClusterRequest(endpoint_type=2), 1)
    return sorted(each.broker_id for each in told.brokers) if told.controller_id > 0 else []


@pytest.fixture(params=[1, 2, 3])
def tool(request: pytest.FixtureRequest, cluster: Cluster) -> Tool:
    """At the controller of that node alone: what it printed."""
    assert cluster.nodes is not None
    node = cluster.nodes.nodes[request.param]
    port = node.ports.controllers
    # Java's client that is told of no active controller does not ask again for minutes.
    wait_until(lambda: registered(port) == cluster.broker_ids)

    def run(name: str, *args: str) -> str:
        done = shared_tool_host().run(name, [*args, "--bootstrap-controller", f"127.0.0.1:{port}"])
        said = f"{name}: {done.stdout}\n{done.stderr}\nnode {request.param}: {node.log[-3000:]}"
        assert done.returncode == 0, said
        return done.stdout

    return run


def test_tools_ask_controllers(tool: Tool, cluster: Cluster) -> None:
    listed = [line.split() for line in tool("kafka-cluster", "list-endpoints").splitlines()]
    assert sorted((int(row[0]), row[-1]) for row in listed[1:]) == [
        (each, "controller") for each in cluster.broker_ids
    ]
    defaults = ("--entity-type", "brokers", "--entity-default")
    tool("kafka-configs", *defaults, "--alter", "--add-config", f"{SETTING}=14000")
    assert f"{SETTING}=14000" in tool("kafka-configs", *defaults, "--describe")
    tool("kafka-configs", *defaults, "--alter", "--delete-config", SETTING)
