"""Who this node is, and what a `meta.properties` has to say of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from penstock.model.error import PenstockError
from penstock.model.id import NODE_ID_MAX, id_from_str, id_to_str

FIRST_NODE_ID = 1


class IdentityError(PenstockError):
    """The directory belongs to another node, or does not say to whom."""


@dataclass(frozen=True, slots=True)
class Identity:
    """As the `meta.properties` of one directory has it."""

    cluster_id: str
    node_id: int
    directory_id: bytes


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
