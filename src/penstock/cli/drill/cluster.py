"""The cluster of a drill: its own on this machine, as `penstock cluster start` runs it."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from penstock.cli.failure import Failure
from penstock.cli.local.record import read_record
from penstock.cli.output import plural

SETTINGS: Final = (
    "penstock.metrics.topic.enable=true",
    "penstock.metrics.topic.interval.ms=2000",
    "group.initial.rebalance.delay.ms=0",
)
"""A past of minutes would take longer than a drill."""
_SERVERS: Final = re.compile(r"bootstrap servers: (\S+)")
_START_S: Final = 120.0
_STOP_S: Final = 30.0


class DrillCluster(NamedTuple):
    servers: str
    home: Path | None = None
    """Of a cluster of its own."""

    def processes(self) -> tuple[int, ...]:
        """Of its nodes; none of a cluster that somebody else runs."""
        record = None if self.home is None else read_record(self.home)
        if record is None:
            return ()
        running = [record.process(each.id) for each in record.nodes]
        return tuple(0 if each is None else each.pid for each in running)


@contextmanager
def own_cluster(nodes: int, say: Callable[[str], None]) -> Iterator[DrillCluster]:
    """Gone afterwards, with its data."""
    with tempfile.TemporaryDirectory(prefix="penstock-drill-") as home:
        chosen = [word for each in SETTINGS for word in ("--set", each)]
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "penstock.cli.main", "cluster", "start"),
                *("--nodes", str(nodes), "--data-dir", home, "--listen-base", "0", *chosen),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            say(f"starting {plural(nodes, 'node')}")
            yield DrillCluster(_servers(process), Path(home))
        finally:
            process.terminate()
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _servers(process: subprocess.Popen[str]) -> str:
    patience = threading.Timer(_START_S, process.kill)
    patience.start()
    lines = []
    assert process.stdout is not None
    try:
        for line in process.stdout:
            lines.append(line.rstrip())
            if found := _SERVERS.search(line):
                # Read on, so that it never waits for somebody to.
                threading.Thread(target=process.stdout.read, daemon=True).start()
                return found[1]
    finally:
        patience.cancel()
    raise Failure(f"the cluster of the drill did not come up: {' '.join(lines[-1:])}")
