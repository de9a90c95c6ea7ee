"""A cluster that begins with this node: its directory is formatted at the first start.

Only where the settings name this node as the one controller. Whoever names others joins them, and
has been told which cluster that is by `penstock storage format`.
"""

from __future__ import annotations

from collections.abc import Callable
from socket import getfqdn, gethostname

from penstock.model.id import id_to_str
from penstock.node.address import EVERY_INTERFACE, Address
from penstock.node.cluster_config import ClusterConfig
from penstock.storage.disk import Disk
from penstock.storage.names import META_PROPERTIES

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def found(
    cluster: ClusterConfig, disk: Disk, now_ms: Callable[[], int], new_id: Callable[[], bytes]
) -> None:
    """Nothing where the directory is formatted, or others have to be asked."""
    if not is_first(cluster) or disk.exists(f"{cluster.metadata_dir}/{META_PROPERTIES}"):
        return
    from penstock.node.format.feature import feature_levels
    from penstock.node.format.formatter import Formatter, NewCluster, random_id
    from penstock.node.format.quorum_choice import choose_voters

    voters = choose_voters(
        cluster, standalone=not cluster.voters, initial=None, nobody=False, new_id=new_id
    )
    levels = feature_levels({}, None, dynamic=bool(voters))
    new = NewCluster(id_to_str(random_id(new_id)), levels, voters)
    formatter = Formatter(cluster, new, disk, now_ms, new_id)
    for _ in formatter.run(formatter.unformatted(ignore_formatted=True)):
        pass


def is_first(cluster: ClusterConfig) -> bool:
    """Whether the settings name no controller but this node."""
    if not cluster.is_controller or not cluster.names_quorum:
        return False
    if any(voter.id != cluster.node_id for voter in cluster.voters):
        return False
    own = [
        Address(each.host, each.port)
        for endpoints in (cluster.listeners, cluster.advertised)
        for each in cluster.of_controllers(endpoints)
    ]
    return all(any(_is_same(server, each) for each in own) for server in cluster.bootstrap_servers)


def _is_same(server: Address, own: Address) -> bool:
    if server.port != own.port:
        return False
    if own.host in ("", *EVERY_INTERFACE):
        return server.host in (*LOOPBACK, gethostname(), getfqdn())
    return server.host == own.host or {server.host, own.host} <= set(LOOPBACK)
