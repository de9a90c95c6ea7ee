"""Requests to a cluster of several brokers, some of which may be down.

It owns which broker is asked: whichever answers, the last good one first. Every broker forwards
what only the active controller may decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from penstock.cli.cluster import Cluster, parse_address
from penstock.cli.failure import Failure
from penstock.cli.wire_call import Unreachable, call
from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity

if TYPE_CHECKING:
    from penstock.cli.wire_security import Connect

T = TypeVar("T", bound=Entity)


class Link:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._addresses = [parse_address(each) for each in cluster.bootstrap_servers.split(",")]
        self._by_broker: dict[int, tuple[str, int]] = {}

    @property
    def timeout_s(self) -> float:
        return self._cluster.timeout_s

    @property
    def connect(self) -> Connect:
        return self._cluster.connect

    @property
    def timeout_ms(self) -> int:
        return int(self.timeout_s * 1000)

    def learn(self, broker: int, host: str, port: int) -> None:
        """One more broker to ask, should those that were named be down."""
        self._by_broker[broker] = (host, port)
        if (host, port) not in self._addresses:
            self._addresses.append((host, port))

    def call(self, request: Entity, answer: type[T]) -> T:
        for address in list(self._addresses):
            try:
                got = call(self.connect, *address, request, answer)
            except Unreachable:
                continue
            self._addresses.remove(address)
            self._addresses.insert(0, address)
            return got
        raise self.unreachable()

    def unreachable(self) -> Failure:
        return self._cluster.unreachable()

    def call_broker(self, broker: int, request: Entity, answer: type[T]) -> T:
        """For what each broker answers for itself alone."""
        if broker not in self._by_broker:
            raise Unreachable(f"broker {broker} is down")
        return self.call_at(*self._by_broker[broker], request, answer)

    def call_at(self, host: str, port: int, request: Entity, answer: type[T]) -> T:
        return call(self.connect, host, port, request, answer)


def error_name(code: int) -> str:
    try:
        return ErrorCode(code).name
    except ValueError:
        return f"error {code}"


def check(code: int, message: str | None = None, what: str = "") -> None:
    """One line of a refusal: what it was about, in the broker's words where it sent some."""
    if code:
        name = error_name(code)
        said = f"{message.rstrip('.')} ({name})" if message else name
        if code == ErrorCode.SECURITY_DISABLED:
            said += (
                "; brokers with authorizer.class.name have one (`penstock security init --acls`)"
            )
        raise Failure(f"{what}: {said}" if what else said)
