"""How long a producer gets no acknowledgement when the leader of its partition goes away."""

from __future__ import annotations

from bench.cluster.peer import ClusterPeer
from bench.cluster.scale import Scale
from penstock.protocol.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from penstock.testing.cluster import Cluster
from penstock.testing.cluster_view import call
from tools import silence as meter

_ELECT_VERSION = 2


def silence(peer: ClusterPeer, scale: Scale) -> dict[str, float]:
    """Each way once, of a leader alone and of one that is the active controller as well."""
    cluster = peer.cluster
    cluster.create_topic(meter.TOPIC, meter.PARTITIONS, timeout_s=30)
    measured = {}
    for kind in meter.KINDS:
        for at_controller in (False, True):
            cluster.wait_in_sync()
            _elect_preferred(cluster)
            key = f"silence.{kind}" + (".controller" if at_controller else "")
            measured[key] = meter.measure(cluster, kind, at_controller=at_controller)
    cluster.wait_in_sync()
    return measured


def _elect_preferred(cluster: Cluster) -> None:
    """Leaders that went away come back to their nodes, so that each has some to lose."""
    request = ElectLeadersRequest(topic_partitions=None, timeout_ms=30_000)
    address = cluster.nodes[cluster.running[0]].address
    answer = call(address, request, _ELECT_VERSION, ElectLeadersResponse, timeout_s=60)
    if answer.error_code:
        raise RuntimeError(f"leaders were not elected: error {answer.error_code}")
