"""A drill from its start to its end, as it is told to the person in front of it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Final

from penstock.cli.cluster import Cluster
from penstock.cli.doctor.diagnosis import diagnose
from penstock.cli.doctor.reader import Observer
from penstock.cli.drill.cluster import DrillCluster, own_cluster
from penstock.cli.drill.console import Console, help_text
from penstock.cli.drill.drill import Drill
from penstock.cli.drill.incident import INCIDENTS
from penstock.cli.drill.stage import Stage
from penstock.cli.failure import Failure
from penstock.cli.group.words import duration
from penstock.cli.interrupt import check_interrupt
from penstock.cli.leader_call import read_metadata
from penstock.cli.operator.link import Link
from penstock.cli.output import note, print_json, print_line
from penstock.cli.profile import Target

_LOOK_S: Final = 1.0
_TELL_S: Final = 15.0
_WAIT_S: Final = 300.0
"""For lag to rise, to be explained, and to fall, when nobody is there to wait for."""
_AUTO_HURRY: Final = 15.0
_FALLEN_LOOKS: Final = 5


class Session:
    def __init__(self, cause: str, seed: int, calm_s: float, *, auto: bool, as_json: bool) -> None:
        self._cause = cause
        self._seed = seed
        self._calm_s = calm_s
        self._auto = auto
        self._as_json = as_json

    def run(self, brokers: str | None, nodes: int) -> int:
        # Whatever ends it, no node is left behind.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        given = None if brokers is None else DrillCluster(brokers)
        with nullcontext(given) if given else own_cluster(nodes, self._say) as cluster:
            assert cluster is not None
            stage = Stage(cluster.servers, "", self._seed, _AUTO_HURRY if self._auto else 1.0)
            link = Link(Cluster(Target(cluster.servers)))
            run = runner_of(cluster.servers)
            incident = INCIDENTS[self._cause](stage)
            drill = Drill(stage, incident, link, run, cluster.processes)
            try:
                return self._drill(drill, cluster.servers)
            finally:
                stage.end()

    def _drill(self, drill: Drill, servers: str) -> int:
        # One line where nobody answers, before clients are started that would say it in hundreds.
        read_metadata(drill.link)
        self._say(f"seed {self._seed}; services start, and the night is quiet")
        drill.prepare()
        self._wait(lambda: False, self._calm_s)
        drill.begin()
        if not self._wait(drill.is_late, _WAIT_S):
            raise Failure("lag did not rise: this machine may be too busy for a drill")
        drill.page()
        self._page(drill, servers)
        found = self._auto_find(drill) if self._auto else self._watch(drill)
        return self._report(drill, found)

    def _page(self, drill: Drill, servers: str) -> None:
        late = {name: seen for name, seen in drill.moments[-1].groups.items() if seen.lag}
        self._say("\n02:07  PAGE  consumers are late. No deploys since noon.")
        for name, seen in sorted(late.items(), key=lambda each: -each[1].lag_s):
            self._say(f"       {name}: {duration(seen.lag_s)} behind, {seen.lag:,} records")
        self._say(
            f"\nin another terminal: export PENSTOCK_BOOTSTRAP_SERVERS={servers}\n"
            "  penstock lag; penstock doctor; penstock groups ...; penstock quotas ...\n"
        )
        if not self._auto:
            self._say(help_text())

    def _watch(self, drill: Drill) -> dict[str, Any]:
        """Until lag has clearly fallen, or the person ends it."""
        console, told_s, well = Console(drill), time.monotonic(), 0
        console.listen()
        while not console.is_done and well < _FALLEN_LOOKS:
            check_interrupt()
            time.sleep(_LOOK_S)
            for each in console.answers():
                self._say(each)
            moment = drill.look()
            well = well + 1 if drill.falls else 0
            if time.monotonic() > told_s + _TELL_S:
                told_s = time.monotonic()
                seen = moment.groups.get(drill.victim)
                if seen is not None:
                    self._say(f"{moment.at_s:5.0f} s  {drill.victim}: {seen.lag:,} records wait")
        return {}

    def _auto_find(self, drill: Drill) -> dict[str, Any]:
        """As an operator who does what the doctor says."""
        observer = Observer(drill.link, ())
        causes: list[str] = []

        def is_found() -> bool:
            found = diagnose(observer.facts(4.0), 1.0)
            causes[:] = [each.cause.value for each in found]
            drill.look()
            return drill.incident.cause in {each.cause for each in found}

        is_named = self._wait(is_found, _WAIT_S)
        drill.named = drill.incident.name if is_named else None
        drill.incident.contain(drill.run)
        drill.note("contain", drill.incident.name)

        def has_fallen() -> bool:
            drill.look()
            return drill.falls

        self._wait(has_fallen, _WAIT_S)
        return {"doctor": causes}

    def _wait(self, is_done: Callable[[], bool], seconds: float) -> bool:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            check_interrupt()
            if is_done():
                return True
            time.sleep(min(_LOOK_S, max(until - time.monotonic(), 0.0)))
        return False

    def _report(self, drill: Drill, found: dict[str, Any]) -> int:
        report = {"seed": self._seed, **drill.report(), **found}
        is_good = report["contained"] and not report["red_flags"] and report["named"] == self._cause
        if self._as_json:
            print_json(report)
        else:
            for line in report_lines(report, is_right=report["named"] == self._cause):
                print_line(line)
        return 0 if is_good else 1

    def _say(self, text: str) -> None:
        note(text) if self._as_json else print_line(text)
        sys.stdout.flush()


def report_lines(report: dict[str, Any], *, is_right: bool) -> list[str]:
    lines = [
        "",
        f"it was: {report['answer']}",
        f"your diagnosis: {report['named'] or 'none'}{', which is right' if is_right else ''}",
        (
            f"lag falls after {duration(report['seconds'])}; {report['peak']:,} records waited at "
            "most"
            if report["contained"]
            else f"lag does not fall; {report['peak']:,} records wait at most"
        ),
    ]
    if not report["red_flags"]:
        return [*lines, "no red flags"]
    return [*lines, *(f"red flag: {each}" for each in report["red_flags"])]


def runner_of(servers: str) -> Callable[..., None]:
    def run(*arguments: str) -> None:
        command = [sys.executable, "-m", "penstock.cli.main", "-b", servers, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failure(done.stderr.strip().removeprefix("penstock: ") or "a command failed")

    return run
