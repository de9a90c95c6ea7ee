"""What is done to one node of a cluster that runs on this machine. Prints nothing."""

from __future__ import annotations

import signal
import time
from pathlib import Path

from penstock.cli.failure import Failure
from penstock.cli.local.layout import NodeFiles
from penstock.cli.local.process import ProcessId
from penstock.cli.local.record import ClusterRecord, read_record

_POLL_S = 0.05
_KILL_S = 10.0
_STOP_S = 60.0
_START_S = 60.0


def running_record(home: Path) -> ClusterRecord:
    record = read_record(home)
    if record is None:
        raise Failure(f"there is no cluster in {home}; `penstock cluster start` makes one")
    return record


def kill_node(record: ClusterRecord, node_id: int) -> ProcessId:
    """As a power failure of that node would: nothing is flushed, closed or said."""
    return _end(record, node_id, signal.SIGKILL, _KILL_S)


def stop_node(record: ClusterRecord, node_id: int) -> ProcessId:
    """Cleanly: others lead what it led before it goes."""
    return _end(record, node_id, signal.SIGTERM, _STOP_S)


def _end(
    record: ClusterRecord, node_id: int, number: signal.Signals, patience_s: float
) -> ProcessId:
    record.node(node_id)
    process = record.process(node_id)
    if process is None or not process.send(number):
        raise Failure(f"node {node_id} does not run")
    if not process.wait_gone(patience_s):
        raise Failure(
            f"node {node_id} (process {process.pid}) has not ended within {patience_s:.0f} s"
        )
    return process


def restart_node(home: Path, node_id: int) -> float:
    """Stop it if it runs, and have it started by who runs the cluster: how long the start took."""
    record = running_record(home)
    record.node(node_id)
    if not record.is_run:
        raise Failure(
            f"nobody runs the cluster in {home}; `penstock cluster start` starts all its nodes"
        )
    last = record.processes.get(node_id)
    if record.process(node_id) is not None:
        stop_node(record, node_id)
    began_s = time.monotonic()
    NodeFiles(home, node_id).start_wanted.touch()
    _wait_ready(home, node_id, last)
    return time.monotonic() - began_s


def _wait_ready(home: Path, node_id: int, last: ProcessId | None) -> None:
    files = NodeFiles(home, node_id)
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        record = running_record(home)
        process = record.processes.get(node_id)
        if process != last and process is not None:
            if not process.is_alive():
                raise Failure(f"node {node_id} did not come up; its log is {files.log}")
            if files.ready.exists():
                return
        elif not record.is_run:
            raise Failure(f"whoever ran the cluster in {home} has ended")
        time.sleep(_POLL_S)
    raise Failure(
        f"node {node_id} is not ready after {_START_S:.0f} s; it may come up yet: its log is "
        f"{files.log}"
    )
