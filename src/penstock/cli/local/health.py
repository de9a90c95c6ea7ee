"""Whether a cluster on this machine is whole, asked of the cluster itself over the protocol."""

from __future__ import annotations

import time
from typing import NamedTuple

from penstock.cli.cluster import Cluster
from penstock.cli.failure import Failure
from penstock.cli.local.record import ClusterRecord
from penstock.cli.operator.broker_view import known_quorum
from penstock.cli.operator.link import Link
from penstock.cli.operator.reader import read_state
from penstock.cli.operator.roll import objections
from penstock.cli.operator.state import ClusterState
from penstock.cli.output import plural
from penstock.cli.profile import Target

_TIMEOUT_S = 3.0


class Health(NamedTuple):
    faults: list[str]
    """What is not as it should be; nothing where all replicas are in sync."""
    controller: int | None
    """The active one."""
    state: ClusterState | None
    """None where no node answers."""

    def led_by(self, node_id: int) -> int | None:
        if self.state is None:
            return None
        return sum(each.leader == node_id for each in self.state.partitions.values())


def look(record: ClusterRecord) -> Health:
    servers = ",".join(each.address for each in record.nodes if record.process(each.id))
    if not servers:
        return Health(["no node runs"], None, None)
    link = Link(Cluster(Target(servers), timeout_s=_TIMEOUT_S))
    try:
        state = read_state(link)
        quorum = known_quorum(link)
    except Failure as failure:
        return Health([_without_quorum(record) or str(failure)], None, None)
    faults = objections(state, quorum, time.time_ns() // 1_000_000)
    known = set(state.brokers)
    faults += [f"node {each.id} is not in yet" for each in record.nodes if each.id not in known]
    return Health(faults, None if quorum is None else quorum.leader, state)


def _without_quorum(record: ClusterRecord) -> str | None:
    """Brokers answer then, and not to what only an active controller knows."""
    voters = [each.id for each in record.nodes if each.controller_port is not None]
    down = [each for each in voters if record.process(each) is None]
    if 2 * (len(voters) - len(down)) > len(voters):
        return None
    names = " ".join(map(str, down))
    return (
        f"no active controller: {len(down)} of {plural(len(voters), 'controller')} down, and more "
        f"than half have to run; `penstock cluster restart {names}` starts them"
    )
