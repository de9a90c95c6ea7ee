"""Whether the broker at one address lives, is ready, and is in sync: for probes. Prints nothing.

Live: it answers. Ready: it knows its cluster and an active controller, and is not fenced, so that
clients are served. In sync: besides, no partition that it has a replica of lacks one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from penstock.cli.cluster import Cluster, parse_address
from penstock.cli.failure import Failure
from penstock.cli.operator.link import Link
from penstock.cli.operator.reader import read_state_at
from penstock.cli.operator.state import BrokerNode, ClusterState, name_some
from penstock.cli.wire_call import api_versions
from penstock.protocol.messages.metadata import MetadataRequest, MetadataResponse


class Finding(NamedTuple):
    check: str
    healthy: bool
    said: str


class Probe:
    def __init__(self, cluster: Cluster) -> None:
        self._link = Link(cluster)
        self._address = parse_address(cluster.bootstrap_servers.split(",")[0])
        self._where = f"{self._address[0]}:{self._address[1]}"

    def find(self, check: str) -> Finding:
        """A broker that does not answer is a finding, and no failure of the probe."""
        try:
            problem = _CHECKS[check](self)
        except Failure as failure:
            problem = str(failure)
        return Finding(check, problem is None, problem or f"{self._where} is {WORDS[check]}")

    def _live(self) -> str | None:
        api_versions(self._link.connect, *self._address)
        return None

    def _ready(self) -> str | None:
        request = MetadataRequest(topics=[], allow_auto_topic_creation=False)
        metadata = self._link.call_at(*self._address, request, MetadataResponse)
        if metadata.controller_id < 0:
            return f"{self._where} knows no active controller"
        state = read_state_at(self._link, *self._address)
        if not any(not each.fenced for each in state.brokers.values()):
            return f"{self._where} knows no broker that serves"
        if self._own(state) is None and self._address[0] in {
            b.host for b in state.brokers.values()
        }:
            # Others advertise this very host: so would it.
            return f"{self._where} is fenced, or not registered yet"
        return None

    def _in_sync(self) -> str | None:
        problem = self._ready()
        if problem is not None:
            return problem
        state = read_state_at(self._link, *self._address)
        own = self._own(state)
        lacking = [
            each.place
            for each in state.partitions.values()
            if each.lagging and (own is None or own.id in each.replicas)
        ]
        if lacking:
            return f"not all replicas are in sync: {name_some(sorted(lacking))}"
        return None

    def _own(self, state: ClusterState) -> BrokerNode | None:
        """None where the address that was asked is not the one that it advertises."""
        for each in state.brokers.values():
            if (each.host, each.port) == self._address and not each.fenced:
                return each
        return None


LIVE: Final = "live"
READY: Final = "ready"
IN_SYNC: Final = "in-sync"
WORDS: Final = {LIVE: "live", READY: "ready", IN_SYNC: "ready, with all replicas in sync"}
_CHECKS: Final[dict[str, Callable[[Probe], str | None]]] = {
    LIVE: Probe._live,
    READY: Probe._ready,
    IN_SYNC: Probe._in_sync,
}
