"""The record that a cluster on this machine keeps of itself: `cluster.json` in its folder.

Written by whoever runs the cluster, read by the commands that act on it. Written whole or not at
all; what it says of processes is believed only after asking the system.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from penstock.cli.failure import Failure
from penstock.cli.local.layout import LocalNode
from penstock.cli.local.process import ProcessId

FILE = "cluster.json"


@dataclass(frozen=True, slots=True)
class ClusterRecord:
    cluster_id: str
    nodes: tuple[LocalNode, ...]
    runner: ProcessId | None = None
    """The `penstock cluster start` that runs it, or ran it last."""
    processes: dict[int, ProcessId] = field(default_factory=dict)
    """The last process of each node."""

    @property
    def is_run(self) -> bool:
        return self.runner is not None and self.runner.is_alive()

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(each.address for each in self.nodes)

    def node(self, node_id: int) -> LocalNode:
        for each in self.nodes:
            if each.id == node_id:
                return each
        there = ", ".join(str(each.id) for each in self.nodes)
        raise Failure(f"there is no node {node_id}; there are {there}")

    def process(self, node_id: int) -> ProcessId | None:
        """None if the node does not run."""
        found = self.processes.get(node_id)
        return found if found is not None and found.is_alive() else None

    def with_process(self, node_id: int, process: ProcessId) -> ClusterRecord:
        return replace(self, processes=self.processes | {node_id: process})


def read_record(home: Path) -> ClusterRecord | None:
    """None where no cluster was ever started."""
    path = home / FILE
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return _decode(json.loads(content))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise Failure(f"{path} cannot be understood; mend it or remove it") from None


def write_record(home: Path, record: ClusterRecord) -> None:
    document = {
        "cluster_id": record.cluster_id,
        "nodes": [asdict(each) for each in record.nodes],
        "runner": None if record.runner is None else asdict(record.runner),
        "processes": {node: asdict(each) for node, each in record.processes.items()},
    }
    draft = home / f"{FILE}.{os.getpid()}"
    draft.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    draft.replace(home / FILE)


def _decode(document: Any) -> ClusterRecord:
    runner = document["runner"]
    return ClusterRecord(
        cluster_id=str(document["cluster_id"]),
        nodes=tuple(LocalNode(**each) for each in document["nodes"]),
        runner=None if runner is None else ProcessId(**runner),
        processes={int(node): ProcessId(**each) for node, each in document["processes"].items()},
    )
