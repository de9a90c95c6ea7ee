"""Who is in the groups of one test: members join by their client's name, and all go at the end."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.conformance.clients.java_host import JavaHost
from tests.conformance.clients.member import Joining, Member, Place
from tests.conformance.clients.member_aio import AioMember
from tests.conformance.clients.member_confluent import ConfluentMember
from tests.conformance.clients.member_java import JavaMember
from tests.conformance.clients.member_kafka_python import KafkaPythonMember
from tests.conformance.clients.record import PATIENCE_SECONDS

MEMBERS: dict[str, Callable[[str, Joining], Any]] = {
    "confluent-kafka": ConfluentMember,
    "kafka-python": KafkaPythonMember,
    "aiokafka": AioMember,
}
# Every strategy that a client brings, to be run one by one.
STRATEGIES = [
    (name, strategy)
    for name, kind in MEMBERS.items()
    for strategy in kind.strategies  # type: ignore[attr-defined]
]
ROOT = Path(__file__).parents[3]


class Membership:
    def __init__(self, bootstrap_servers: str, java_host: JavaHost | None = None) -> None:
        self._bootstrap = bootstrap_servers
        self._java_host = java_host
        self._members: list[Member] = []
        self._processes: list[subprocess.Popen[bytes]] = []

    def join(self, client: str, group: str, *topics: str, **options: Any) -> Member:
        joining = Joining(group, topics, **options)
        # A poll without partitions never ends in some clients.
        polling = bool(topics or joining.pattern)
        member = Member(lambda: self._make(client, joining), polling=polling)
        self._members.append(member)
        return member

    def _make(self, client: str, joining: Joining) -> Any:
        if client == JavaMember.name:
            assert self._java_host is not None
            return JavaMember(self._java_host.port, self._bootstrap, joining)
        return MEMBERS[client](self._bootstrap, joining)

    def join_process(
        self, client: str, group: str, topic: str, session_ms: int, protocol: str = "classic"
    ) -> subprocess.Popen[bytes]:
        """Returns once that member has partitions."""
        module = "tests.conformance.clients.member_process"
        words = [client, self._bootstrap, group, topic, str(session_ms), protocol]
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", module, *words],
            stdout=subprocess.PIPE,
            cwd=ROOT,
        )
        self._processes.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == b"assigned\n"
        return process

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        for member in self._members:
            member.end()
        for member in self._members:
            member.close()


def places(topic: str, count: int) -> set[Place]:
    return {(topic, partition) for partition in range(count)}


def wait_even(members: Sequence[Member], all_places: set[Place]) -> None:
    """As below, and each has as many as any other. Where partitions move one by one, the members
    may have all of them between them before that."""
    wait_shared(members, all_places, count=len(all_places) // len(members))


def wait_shared(
    members: Iterable[Member], all_places: set[Place], timeout: float = 0, count: int | None = None
) -> None:
    """Until the members have all places between them, each something (or `count` of them), nobody
    another's."""
    members = list(members)
    deadline = time.monotonic() + (timeout or PATIENCE_SECONDS)
    while True:
        held = [set(member.assigned) for member in members]
        whole = sum(map(len, held)) == len(all_places) and set().union(*held) == all_places
        fits = all(held) if count is None else all(len(each) == count for each in held)
        if whole and (fits or len(members) > len(all_places)):
            return
        for member in members:
            assert member.failure is None, member.failure
        assert time.monotonic() < deadline, f"they hold {held}"
        time.sleep(0.02)
