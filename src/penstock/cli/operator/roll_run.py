"""A rolling restart as it is carried out: wait, restart, see the node go and come back."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence

from penstock.cli.failure import Failure
from penstock.cli.operator.broker_view import known_quorum
from penstock.cli.operator.confirm import confirm
from penstock.cli.operator.held_connection import HeldConnection
from penstock.cli.operator.link import Link
from penstock.cli.operator.reader import read_state, read_state_at
from penstock.cli.operator.roll import objections, roll_order, single_replicas, unwritable
from penstock.cli.operator.setting import topic_settings
from penstock.cli.operator.shell import NodeCommand
from penstock.cli.operator.state import name_some
from penstock.cli.operator.status_line import StatusLine
from penstock.cli.output import note, plural, print_line, print_table
from penstock.cli.wire_call import api_versions

_POLL_S = 0.5


class Roll:
    def __init__(self, link: Link, only: Sequence[int]) -> None:
        self._link = link
        self._state = read_state(link)
        self._quorum = known_quorum(link)
        there = [each.id for each in self._state.brokers.values() if each.host]
        self._order = roll_order(there, self._quorum, only)
        unknown = sorted(set(only) - set(self._order))
        if unknown:
            raise Failure(f"there is no node {unknown[0]}; `penstock brokers list` shows them")
        self._done: list[int] = []

    def show(self) -> None:
        quorum = self._quorum
        voters = {each.id for each in quorum.voters} if quorum is not None else set()
        active = quorum.leader if quorum is not None else None
        rows = []
        for number, node in enumerate(self._order, 1):
            roles = ["broker"] if node in self._state.brokers else []
            roles += ["controller"] if node in voters else []
            last = ", active" if node == active else ""
            host, port = self._address(node)
            rows.append((number, node, f"{host}:{port}", "+".join(roles) + last))
        print_table(("turn", "node", "host", "role"), rows)
        for line in self._warnings():
            print_line(line)

    def _warnings(self) -> Iterable[str]:
        if single := single_replicas(self._state):
            yield f"away while their broker restarts, having one replica: {name_some(single)}"
        topics = {each.topic for each in self._state.partitions}
        settings = topic_settings(self._link, sorted(topics), "min.insync.replicas")
        min_isr = {topic: int(value) for topic, value in settings.items() if value.isdecimal()}
        if tight := unwritable(self._state, min_isr):
            yield (
                "no acks=all writes while one of their brokers restarts, for their "
                f"min.insync.replicas: {name_some(tight)}"
            )

    def run(self, restart: str, *, yes: bool) -> None:
        single = single_replicas(self._state)
        if single and not yes:
            raise Failure(
                f"nothing was restarted: {name_some(single)} would be away for a while, having one "
                "replica; add --yes to go on, or give them more with `penstock partitions move`"
            )
        confirm("Restart them in this order?", yes=yes)
        status = StatusLine()
        try:
            for node in self._order:
                self._wait_safe(status, f"before restarting node {node}")
                self._restart(node, restart, status)
                self._done.append(node)
            self._wait_safe(status, "after the last restart")
        except KeyboardInterrupt:
            status.clear()
            note(self._where())
            raise
        except Failure as failure:
            status.clear()
            raise Failure(f"{failure}; {self._where()}") from failure
        finally:
            status.clear()
        print_line(
            f"restarted {plural(len(self._done), 'node')}; "
            "`penstock leaders elect --all` gives leaders back to their preferred brokers"
        )

    def _where(self) -> str:
        left = [str(each) for each in self._order if each not in self._done]
        done = ", ".join(map(str, self._done)) or "none"
        return (
            f"restarted so far: {done}; nothing goes on by itself; the rest: "
            f"`penstock brokers roll {' '.join(left)} --restart ...`"
        )

    def _wait_safe(self, status: StatusLine, when: str) -> None:
        while True:
            try:
                why = self._objections()
            except Failure as failure:
                why = [str(failure)]
            if not why:
                status.clear()
                return
            status.show(why[0][:20], f"waiting {when}: {'; '.join(why)}")
            time.sleep(_POLL_S)

    def _objections(self) -> list[str]:
        state = read_state(self._link)
        return objections(state, known_quorum(self._link), time.time_ns() // 1_000_000)

    def _restart(self, node: int, command: str, status: StatusLine) -> None:
        host, port = self._address(node)
        print_line(f"restarting node {node}")
        sys.stdout.flush()
        with self._hold(node, host, port) as connection:
            running = NodeCommand(command, node, host, port)
            while not (gone := connection.broken()) or not running.has_ended():
                if not gone and running.has_ended():
                    status.show("gone", f"waiting: node {node} has not gone down yet")
                elif gone:
                    time.sleep(_POLL_S)
        while (why := self._not_back(node, host, port)) is not None:
            status.show(why, f"waiting: node {node} {why}")
            time.sleep(_POLL_S)
        status.clear()

    def _hold(self, node: int, host: str, port: int) -> HeldConnection:
        try:
            return HeldConnection(self._link.connect(host, port))
        except OSError as error:
            raise Failure(
                f"node {node} does not answer at {host}:{port}; start it first"
            ) from error

    def _not_back(self, node: int, host: str, port: int) -> str | None:
        try:
            if node not in self._state.brokers:
                api_versions(self._link.connect, host, port)
                return None
            # Its own word: another broker may not have noticed yet that it was away.
            seen = read_state_at(self._link, host, port)
        except Failure:
            return "is not back yet"
        if node not in seen.brokers:
            return "is back and still fenced"
        lagging = any(node in each.lagging for each in seen.partitions.values())
        return "is back, and its replicas catch up" if lagging else None

    def _address(self, node: int) -> tuple[str, int]:
        if node in self._state.brokers:
            each = self._state.brokers[node]
            return each.host, each.port
        addresses = self._quorum.addresses if self._quorum is not None else {}
        if node not in addresses:
            raise Failure(f"the cluster does not tell the address of controller {node}")
        return addresses[node]
