"""A cluster on this machine as `penstock cluster status` shows it. Prints nothing."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from penstock.cli.local.health import Health, look
from penstock.cli.local.layout import LocalNode, NodeFiles
from penstock.cli.local.record import ClusterRecord


@dataclass(frozen=True, slots=True)
class NodeStatus:
    id: int
    address: str
    roles: str
    state: str
    """`down`, `starting`, or `up`; `fenced` for one that runs and that the cluster does not use."""
    pid: int | None
    leads: int | None
    """Partitions; None where no node answers."""


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    cluster_id: str
    data_dir: str
    runner: int | None
    """The process that runs it; None where nobody does."""
    controller: int | None
    bootstrap_servers: str
    nodes: list[NodeStatus]
    faults: list[str]

    def document(self) -> dict[str, Any]:
        return asdict(self)


def read_status(home: Path, record: ClusterRecord) -> ClusterStatus:
    health = look(record)
    runner = record.runner if record.is_run else None
    return ClusterStatus(
        cluster_id=record.cluster_id,
        data_dir=str(home),
        runner=None if runner is None else runner.pid,
        controller=health.controller,
        bootstrap_servers=record.bootstrap_servers,
        nodes=[_node(home, record, each, health) for each in record.nodes],
        faults=health.faults,
    )


def _node(home: Path, record: ClusterRecord, node: LocalNode, health: Health) -> NodeStatus:
    process = record.process(node.id)
    return NodeStatus(
        id=node.id,
        address=node.address,
        roles=node.roles,
        state=_state(home, node, process is not None, health),
        pid=None if process is None else process.pid,
        leads=health.led_by(node.id),
    )


def _state(home: Path, node: LocalNode, runs: bool, health: Health) -> str:
    if not runs:
        return "down"
    if not NodeFiles(home, node.id).ready.exists():
        return "starting"
    known = health.state.brokers.get(node.id) if health.state is not None else None
    return "fenced" if known is not None and known.fenced else "up"
