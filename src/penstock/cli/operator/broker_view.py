"""Brokers as `penstock brokers list` and `describe` show them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from penstock.cli.failure import Failure
from penstock.cli.operator.link import Link
from penstock.cli.operator.reader import BrokerDisk, read_disks, read_quorum, read_state
from penstock.cli.operator.state import ClusterState, QuorumState
from penstock.cli.wire_call import api_versions

if TYPE_CHECKING:
    from penstock.cli.wire_security import Connect


@dataclass(frozen=True, slots=True)
class BrokerView:
    id: int
    host: str
    port: int
    rack: str | None
    controller: str | None
    """`active` for the leader of the quorum, `voter` for the others of it."""
    state: str
    """`up`, `cordoned` (drained, takes no new replicas) or `fenced` (down)."""
    leaders: int
    replicas: int
    under_replicated: int
    """Its replicas that are not in sync."""
    size_bytes: int | None

    def document(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Feature:
    name: str
    supported_min: int
    supported_max: int
    level: int | None
    """What the cluster has agreed on."""


def view_brokers(link: Link) -> list[BrokerView]:
    state = read_state(link)
    quorum = known_quorum(link)
    disks = read_disks(link, state.brokers.values())
    return [_view(state, quorum, broker, disks.get(broker)) for broker in sorted(state.brokers)]


def known_quorum(link: Link) -> QuorumState | None:
    """Brokers may be there while no controller is."""
    try:
        return read_quorum(link)
    except Failure:
        return None


def _view(
    state: ClusterState, quorum: QuorumState | None, broker: int, disk: BrokerDisk | None
) -> BrokerView:
    node = state.brokers[broker]
    held = [each for each in state.partitions.values() if broker in each.replicas]
    return BrokerView(
        id=broker,
        host=node.host,
        port=node.port,
        rack=node.rack,
        controller=_controller(quorum, broker),
        state=_state(node.fenced, disk),
        leaders=sum(each.leader == broker for each in held),
        replicas=len(held),
        under_replicated=sum(broker in each.lagging for each in held),
        size_bytes=sum(disk.sizes.values()) if disk is not None else None,
    )


def _state(fenced: bool, disk: BrokerDisk | None) -> str:
    if fenced:
        return "fenced"
    return "cordoned" if disk is not None and disk.cordoned else "up"


def _controller(quorum: QuorumState | None, broker: int) -> str | None:
    if quorum is None or broker not in {each.id for each in quorum.voters}:
        return None
    return "active" if broker == quorum.leader else "voter"


def features(view: BrokerView, connect: Connect) -> list[Feature]:
    """What this very broker can do, and what is in force; nothing of one that is down."""
    try:
        answer = api_versions(connect, view.host, view.port)
    except Failure:
        return []
    levels = {each.name: each.max_version_level for each in answer.finalized_features}
    return [
        Feature(each.name, each.min_version, each.max_version, levels.get(each.name))
        for each in sorted(answer.supported_features, key=lambda one: one.name)
    ]
