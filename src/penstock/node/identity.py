"""Who this node is: what `meta.properties` says, made at the first start, checked at the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.model.error import PenstockError
from penstock.model.id import id_from_str, id_to_str
from penstock.settings.config import BrokerConfig
from penstock.storage.log_dir import LogDir

FIRST_NODE_ID = 1


class IdentityError(PenstockError):
    """The directory belongs to another node."""


@dataclass(frozen=True, slots=True)
class Identity:
    cluster_id: str
    node_id: int
    directory_id: bytes


def establish(log_dir: LogDir, config: BrokerConfig, new_id: Callable[[], bytes]) -> Identity:
    stored = log_dir.read_properties()
    configured = config.node_id if config.is_set("node.id") else None
    if not stored:
        identity = Identity(
            id_to_str(new_id()), FIRST_NODE_ID if configured is None else configured, new_id()
        )
        _write(log_dir, identity)
        return identity
    node_id = int(stored.get("node.id", FIRST_NODE_ID))
    if configured is not None and configured != node_id:
        raise IdentityError(
            f"{log_dir.path} belongs to node {node_id}, but node.id is {configured}: "
            "use another --data-dir or that node.id"
        )
    directory_id = stored.get("directory.id")
    identity = Identity(
        stored.get("cluster.id") or id_to_str(new_id()),
        node_id,
        id_from_str(directory_id) if directory_id else new_id(),
    )
    if directory_id is None or "cluster.id" not in stored:
        _write(log_dir, identity)
    return identity


def _write(log_dir: LogDir, identity: Identity) -> None:
    log_dir.write_properties(
        {
            "version": "1",
            "cluster.id": identity.cluster_id,
            "node.id": str(identity.node_id),
            "directory.id": id_to_str(identity.directory_id),
        }
    )
