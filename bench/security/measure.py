"""One round of each figure. The brokers are given; medians are the caller's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bench.case.quota import neighbour
from bench.case.scale import Scale
from bench.load.child import Spec, run_load
from bench.peer import Peer
from bench.security.system import MECHANISM, Keys, Secured
from penstock.cli.acl.entry import add_acls
from penstock.cli.cluster import Cluster
from penstock.cli.operator.link import Link
from penstock.cli.profile import Target
from penstock.cli.user import set_password
from penstock.metadata.acl import Acl
from penstock.model.acl import (
    CLUSTER_NAME,
    WILDCARD,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)

PARTITIONS: Final = 3
LARGE, SMALL = 1024, 100
USER, PASSWORD = "bench", "bench-secret"
ENTRIES: Final = 10_000
_ENTRIES_PER_REQUEST: Final = 1000
_NAME: Final = "bench-"
"""What names of topics begin with."""
_TIMEOUT_S: Final = 180

Round = Mapping[str, float]
"""By key of a figure."""


@dataclass(frozen=True)
class Amount:
    records: int
    small_records: int
    connections: int
    logins: int
    requests: int
    scale: Scale


def prepare_login(one: Secured) -> None:
    cluster = Cluster(Target(one.peer.broker.bootstrap_servers), timeout_s=60)
    set_password(cluster, USER, PASSWORD, [MECHANISM], 4096)


def prepare_acls(peer: Peer) -> None:
    """Most are for others; what the clients of the benchmark may do, they may by a prefix on which
    many have something to say."""
    link = Link(Cluster(Target(peer.broker.bootstrap_servers), timeout_s=60))
    anonymous = "User:ANONYMOUS"
    acls = [
        _acl(ResourceType.CLUSTER, CLUSTER_NAME, anonymous, Operation.ALL),
        _acl(ResourceType.TOPIC, _NAME, anonymous, Operation.ALL, PatternType.PREFIXED),
        _acl(ResourceType.GROUP, WILDCARD, anonymous, Operation.READ),
    ]
    for number in range(ENTRIES - len(acls)):
        kind = PatternType.PREFIXED if number % 2 else PatternType.LITERAL
        name = _NAME if number % 10 == 1 else f"team-{number}."
        acls.append(_acl(ResourceType.TOPIC, name, f"User:{number}", Operation.READ, kind))
    for start in range(0, len(acls), _ENTRIES_PER_REQUEST):
        add_acls(link, acls[start : start + _ENTRIES_PER_REQUEST])


def _acl(
    resource: ResourceType,
    name: str,
    principal: str,
    operation: Operation,
    kind: PatternType = PatternType.LITERAL,
) -> Acl:
    return Acl(resource, name, kind, principal, WILDCARD, operation, Permission.ALLOW)


def tls(one: Secured, keys: Keys, amount: Amount) -> Round:
    found: dict[str, float] = {}
    for kind, address, client in (
        (".plain", one.peer.broker.bootstrap_servers, {}),
        ("", one.encrypted, keys.client()),
    ):
        produced, consumed = _stream(one.peer, address, client, LARGE, amount.records)
        found |= {f"tls.produce{kind}": produced / 1e6, f"tls.consume{kind}": consumed / 1e6}
    files = {"ca": str(keys.ca), "certificate": str(keys.certificate), "key": str(keys.key)}
    spec = {"bootstrap": one.encrypted, "count": amount.connections} | files
    found["tls.connect"] = amount.connections / _seconds("connect", spec)
    return found


def login(one: Secured, amount: Amount) -> Round:
    spec = {
        "bootstrap": one.login,
        "count": amount.logins,
        "mechanism": MECHANISM,
        "user": USER,
        "password": PASSWORD,
    }
    return {"login.scram": amount.logins / _seconds("login", spec)}


def quota(one: Secured, amount: Amount) -> Round:
    found = neighbour(one.peer, amount.scale)
    return {"alone": found["quota.p99.before"], "beside": found["quota.p99.during"]}


def small_request(peer: Peer, amount: Amount) -> float:
    """Microseconds of the broker's processor."""
    with peer.topic(1) as topic:
        spec = {"port": peer.broker.port, "topic": topic, "rounds": 200}
        run_load("request", spec, _TIMEOUT_S)
        before = peer.cpu_seconds()
        done = run_load("request", spec | {"rounds": amount.requests // 3}, _TIMEOUT_S)
        return (peer.cpu_seconds() - before) / int(done["requests"]) * 1e6


def small_records(peer: Peer, amount: Amount) -> tuple[float, float]:
    """Written and read in a second."""
    address = peer.broker.bootstrap_servers
    produced, consumed = _stream(peer, address, {}, SMALL, amount.small_records)
    return produced / SMALL, consumed / SMALL


def _stream(
    peer: Peer, address: str, client: Mapping[str, str], size: int, count: int
) -> tuple[float, float]:
    """Bytes a second of a produce, and of a consume of the same."""
    with peer.topic(PARTITIONS) as topic:
        spec: Spec = {"bootstrap": address, "topic": topic, "client": dict(client)}
        spec |= {"count": count, "size": size, "partitions": PARTITIONS}
        size_all = count * size
        return size_all / _seconds("produce", spec), size_all / _seconds("consume", spec)


def _seconds(module: str, spec: Spec) -> float:
    return float(run_load(module, spec, timeout_s=_TIMEOUT_S)["seconds"])
