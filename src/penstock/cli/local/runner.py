"""Runs a cluster on this machine in the foreground: starts its nodes, watches them, ends them.

It restarts nothing by itself: what died stays dead until somebody asks for it. Others act on the
nodes through the record and the files of `layout`, and are seen here by what comes of it.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from penstock.cli.failure import Failure
from penstock.cli.local.health import look
from penstock.cli.local.interrupt import Interrupts
from penstock.cli.local.layout import DEFAULT_DIR, LocalNode, NodeFiles
from penstock.cli.local.node_process import NodeProcess
from penstock.cli.local.process import ProcessId
from penstock.cli.local.record import ClusterRecord, write_record
from penstock.cli.operator.status_line import StatusLine
from penstock.cli.output import plural

_POLL_S = 0.05
_HEALTH_EVERY_S = 0.3
_STOP_S = 60.0
INTERRUPTED = 130


class Runner:
    def __init__(self, home: Path, record: ClusterRecord, settings: Sequence[str]) -> None:
        self._home = home
        self._record = replace(record, runner=ProcessId.of(os.getpid()), processes={})
        self._settings = settings
        self._nodes: dict[int, NodeProcess] = {}
        self._interrupts = Interrupts()
        self._status = StatusLine()
        self._is_whole = False
        self._was_whole = False
        self._next_health_s = 0.0
        self._started_s = time.monotonic()

    def run(self) -> int:
        """The exit code. Whatever happens, no node is left behind."""
        with self._interrupts.caught():
            try:
                say(f"{plural(len(self._record.nodes), 'node')} in {self._home}")
                for node in self._record.nodes:
                    self._start(node)
                while not self._interrupts.count:
                    self._look()
                    time.sleep(_POLL_S)
                return self._stop()
            finally:
                self._status.clear()
                for each in self._nodes.values():
                    each.end(signal.SIGKILL)

    # Coming up, and what happens then

    def _start(self, node: LocalNode) -> None:
        NodeFiles(self._home, node.id).start_wanted.unlink(missing_ok=True)
        started = NodeProcess(self._home, node, self._settings)
        self._nodes[node.id] = started
        self._record = self._record.with_process(node.id, started.process)
        write_record(self._home, self._record)
        self._is_whole = False
        self._started_s = time.monotonic()

    def _look(self) -> None:
        for node in self._record.nodes:
            self._look_at(node)
        running = [each for each in self._nodes.values() if each.is_running]
        if not running and not self._was_whole:
            raise Failure(f"no node came up; their logs are in {self._home}/node-*/penstock.log")
        if not self._is_whole and len(running) == len(self._record.nodes):
            if all(each.is_ready for each in running):
                self._look_at_health()
            else:
                waited = [str(each.node.id) for each in running if not each.is_ready]
                self._status.show("up", f"waiting for node {', '.join(waited)}")

    def _look_at(self, node: LocalNode) -> None:
        here = self._nodes.get(node.id)
        if here is not None:
            if here.has_become_ready():
                self._say(f"node {node.id} ready on {node.address} in {here.took_s:.1f} s")
            if not here.is_running:
                self._nodes.pop(node.id)
                self._is_whole = False
                self._say(self._obituary(here))
        elif NodeFiles(self._home, node.id).start_wanted.exists():
            self._start(node)

    def _obituary(self, node: NodeProcess) -> str:
        again = f"`penstock cluster restart {node.node.id}{self._where()}` starts it again"
        if not (how := node.ended()):
            return f"node {node.node.id} stopped; {again}"
        return f"node {node.node.id} died ({how}); {again}; its last line:\n  {node.last_line()}"

    def _look_at_health(self) -> None:
        if time.monotonic() < self._next_health_s:
            return
        health = look(self._record)
        self._next_health_s = time.monotonic() + _HEALTH_EVERY_S
        if health.faults:
            self._status.show(health.faults[0][:20], f"waiting: {'; '.join(health.faults)}")
            return
        took_s = time.monotonic() - self._started_s
        self._say(f"all in sync after {took_s:.1f} s; node {health.controller} is the controller")
        self._is_whole = True
        if not self._was_whole:
            self._was_whole = True
            self._say_what_next()

    def _say_what_next(self) -> None:
        where = self._where()
        self._say(
            f"\nbootstrap servers: {self._record.bootstrap_servers}\n\n"
            "In another terminal:\n"
            f"  export PENSTOCK_BOOTSTRAP_SERVERS={self._record.bootstrap_servers}\n"
            "  penstock topics create orders\n"
            f"  penstock cluster status{where}\n"
            f"  penstock cluster kill 1{where}       # then: stop, restart\n\n"
            "Ctrl-C stops all nodes."
        )

    def _where(self) -> str:
        """What a command needs to find this cluster."""
        default = self._home == Path(DEFAULT_DIR).resolve()
        return "" if default else f" --data-dir {self._home}"

    # Ending

    def _stop(self) -> int:
        self._status.clear()
        self._interrupts.count = 1
        self._say("\nstopping all nodes; Ctrl-C once more ends them at once")
        code = 0
        for node in self._stop_order():
            if not self._stop_one(node):
                code = 1
            if self._interrupts.count > 1:
                return self._stop_at_once()
        return code

    def _stop_order(self) -> list[NodeProcess]:
        """The active controller last: who leaves before it has somebody to ask."""
        controller = look(self._record).controller
        running = [each for each in self._nodes.values() if each.is_running]
        return sorted(running, key=lambda each: (each.node.id == controller, each.node.id))

    def _stop_one(self, node: NodeProcess) -> bool:
        began = time.monotonic()
        node.end(signal.SIGTERM)
        if not self._has_quorum():
            # A second signal: it need not ask for leave that nobody is left to give. Another one,
            # since two of a kind may arrive as one.
            node.end(signal.SIGINT)
        while node.is_running and self._interrupts.count == 1:
            if time.monotonic() > began + _STOP_S:
                self._say(f"node {node.node.id} did not stop within {_STOP_S:.0f} s: killed")
                node.end(signal.SIGKILL)
                return False
            self._status.show("stop", f"stopping node {node.node.id}")
            time.sleep(_POLL_S)
        if not node.is_running:
            how = node.ended()
            took_s = time.monotonic() - began
            self._say(f"node {node.node.id} {how or 'stopped'} after {took_s:.1f} s")
            return not how
        return True

    def _has_quorum(self) -> bool:
        voters = [each for each in self._record.nodes if each.controller_port is not None]
        living = [each for each in voters if self._is_running(each.id)]
        return 2 * len(living) > len(voters)

    def _is_running(self, node_id: int) -> bool:
        return node_id in self._nodes and self._nodes[node_id].is_running

    def _stop_at_once(self) -> int:
        for each in self._nodes.values():
            each.end(signal.SIGKILL)
        self._say("all nodes killed; the next start recovers what they had")
        return INTERRUPTED

    def _say(self, text: str) -> None:
        self._status.clear()
        say(text)


def say(text: str) -> None:
    """Whoever reads may have gone; the nodes have not."""
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except OSError:
        pass
