"""Who this node is: what `meta.properties` says, made at the first start, checked at the others."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from penstock.model.error import PenstockError
from penstock.model.id import NODE_ID_MAX, id_from_str, id_to_str
from penstock.settings.config import BrokerConfig
from penstock.storage.damage import DamagedFile
from penstock.storage.log_dir import LogDir
from penstock.storage.names import META_PROPERTIES

FIRST_NODE_ID = 1


class IdentityError(PenstockError):
    """The directory belongs to another node, or does not say to whom."""


@dataclass(frozen=True, slots=True)
class Identity:
    cluster_id: str
    node_id: int
    directory_id: bytes


def establish(
    log_dir: LogDir, config: BrokerConfig, new_id: Callable[[], bytes], *, must_exist: bool = False
) -> Identity:
    """`must_exist`: who joins others is told which cluster that is beforehand."""
    configured = config.node_id if config.is_set("node.id") else None
    stored = _read(log_dir)
    if stored is None and must_exist:
        raise IdentityError(
            f"{log_dir.path} is not formatted: penstock storage format says which cluster it "
            "belongs to"
        )
    if stored is None:
        identity = Identity(
            id_to_str(new_id()), FIRST_NODE_ID if configured is None else configured, new_id()
        )
        log_dir.write_properties(properties_of(identity))
        return identity
    node_id = int(stored["node.id"])
    if configured is not None and configured != node_id:
        raise IdentityError(
            f"{log_dir.path} belongs to node {node_id}, but node.id is {configured}: "
            "use another --data-dir or that node.id"
        )
    directory_id = stored.get("directory.id")
    identity = Identity(
        stored["cluster.id"], node_id, id_from_str(directory_id) if directory_id else new_id()
    )
    if directory_id is None:
        log_dir.write_properties(properties_of(identity))
    return identity


def _read(log_dir: LogDir) -> dict[str, str] | None:
    try:
        stored = log_dir.read_properties()
        if stored is not None:
            check_stored(stored)
        return stored
    except (DamagedFile, ValueError) as damage:
        raise IdentityError(
            f"{log_dir.path}/{META_PROPERTIES} is damaged ({damage}). It says which cluster and "
            "node the data belongs to: put a copy back; or remove it, and the data is taken over "
            "under a new cluster id, as the node that node.id says"
        ) from damage


def check_stored(stored: dict[str, str]) -> None:
    """ValueError says what a `meta.properties` lacks."""
    if stored.get("version") not in ("0", "1"):
        raise ValueError("it has no version")
    # Version 0 is Kafka's of the days before KRaft became the only way.
    stored.setdefault("node.id", stored.get("broker.id", ""))
    if not stored["node.id"].isdecimal() or int(stored["node.id"]) > NODE_ID_MAX:
        raise ValueError("it has no node.id")
    if not is_cluster_id(stored.get("cluster.id", "")):
        raise ValueError("it has no cluster.id")
    if "directory.id" in stored:
        id_from_str(stored["directory.id"])


def properties_of(identity: Identity) -> dict[str, str]:
    return {
        "version": "1",
        "cluster.id": identity.cluster_id,
        "node.id": str(identity.node_id),
        "directory.id": id_to_str(identity.directory_id),
    }


def is_cluster_id(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9_-]{1,64}", text) is not None
