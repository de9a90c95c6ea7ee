"""Whether the settings describe what a node can be: in a cluster, or alone."""

from __future__ import annotations

from penstock.model.error import PenstockError
from penstock.node.cluster_config import ClusterConfig
from penstock.settings.config import BrokerConfig

REPLICATION_FACTORS = (
    "offsets.topic.replication.factor",
    "transaction.state.log.replication.factor",
)


class QuorumError(PenstockError):
    """The settings ask for more than one node, or for more than one node does so far."""


def check_place(cluster: ClusterConfig, config: BrokerConfig) -> None:
    """QuorumError names the setting that asks for more, and says what to set instead."""
    if not cluster.names_quorum and len(cluster.roles) == 2:
        for key in REPLICATION_FACTORS:
            if config.is_set(key) and config.get(key) > 1:
                raise QuorumError(
                    f"{key}={config.get(key)}: a node that no setting gives others is a cluster of "
                    "one, with one replica; set it to 1, or name the controllers"
                )
