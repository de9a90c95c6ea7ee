"""Kafka's tools at the controllers themselves, also at those that do not lead (KIP-919)."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Timer

import pytest

from penstock.testing.cluster import Cluster as ThreeNodes
from penstock.testing.nursery import Nursery
from tests.conformance.conftest import Cluster
from tests.patience import wait_until
from tools.tool_host import shared_tool_host

pytestmark = pytest.mark.java

SETTING = "log.cleaner.backoff.ms"
Tool = Callable[..., str]


@pytest.fixture(params=[1, 2, 3])
def tool(request: pytest.FixtureRequest, cluster: Cluster) -> Tool:
    """At the controller of that node alone: what it printed."""
    assert cluster.nodes is not None
    port = cluster.nodes.nodes[request.param].ports.controllers

    def run(name: str, *args: str) -> str:
        done = shared_tool_host().run(name, [*args, "--bootstrap-controller", f"127.0.0.1:{port}"])
        assert done.returncode == 0, f"{name}: {done.stdout}\n{done.stderr}"
        return done.stdout

    return run


def test_tools_ask_controllers(tool: Tool, cluster: Cluster) -> None:
    def listed() -> list[tuple[int, str]]:
        rows = [line.split() for line in tool("kafka-cluster", "list-endpoints").splitlines()]
        return sorted((int(row[0]), row[-1]) for row in rows[1:])

    # Right after a start not all of them are registered.
    wait_until(lambda: listed() == [(each, "controller") for each in cluster.broker_ids])
    defaults = ("--entity-type", "brokers", "--entity-default")
    tool("kafka-configs", *defaults, "--alter", "--add-config", f"{SETTING}=14000")
    assert f"{SETTING}=14000" in tool("kafka-configs", *defaults, "--describe")
    tool("kafka-configs", *defaults, "--alter", "--delete-config", SETTING)


def test_a_tool_that_asks_before_the_others_are_there_waits(tmp_path: Path) -> None:
    nursery = Nursery()
    nodes = ThreeNodes(tmp_path / "cluster", 3, {}, nursery=nursery)
    try:
        nodes.format()
        nodes.launch(1)
        port = nodes.nodes[1].ports.controllers
        wait_until(lambda: _answers(port))
        late = Timer(3, lambda: [nodes.launch(each) for each in (2, 3)])
        late.start()
        asked = ("list-endpoints", "--bootstrap-controller", f"127.0.0.1:{port}")
        done = shared_tool_host().run("kafka-cluster", asked)
        late.join()
    finally:
        nodes.kill_all()
        nursery.close()
    assert (done.returncode, done.stderr) == (0, "")


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False
