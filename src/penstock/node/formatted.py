"""Who a node is whose directories have to be formatted before it starts: one of several nodes.

Each of them says the same cluster and node, and has an id of its own. A cluster of one makes its
directory itself (`identity.establish`).
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.model.id import id_from_str
from penstock.node.cluster_config import ClusterConfig
from penstock.node.format.directory import Directory, check_owner, look
from penstock.node.format.error import FormatError
from penstock.node.format.formatter import random_id
from penstock.node.identity import Identity, IdentityError, properties_of
from penstock.storage.disk import Disk
from penstock.storage.meta_properties import write_meta_properties


def read_identities(
    disk: Disk, cluster: ClusterConfig, new_id: Callable[[], bytes]
) -> dict[str, Identity]:
    """By path. A directory whose disk has failed is left out, the metadata's excepted; one that is
    of an older Kafka, and has no id yet, gets one."""
    found = [look(disk, path) for path in cluster.directories]
    usable = [each for each in found if not each.disk_failed or each.path == cluster.metadata_dir]
    _check_formatted(usable)
    cluster_id = next((each.properties["cluster.id"] for each in usable if each.properties), "")
    try:
        check_owner(usable, cluster_id, cluster.node_id)
    except FormatError as error:
        raise IdentityError(str(error)) from None
    return {each.path: _identity(disk, each, new_id) for each in usable}


def _check_formatted(directories: list[Directory]) -> None:
    for each in directories:
        if each.problem is None and not each.is_formatted:
            raise IdentityError(
                f"{each.path} is not formatted: `penstock storage format -t CLUSTER_ID -c FILE`, "
                "with the id of the cluster, and --ignore-formatted if other directories are"
            )


def _identity(disk: Disk, directory: Directory, new_id: Callable[[], bytes]) -> Identity:
    stored = directory.properties or {}
    text = stored.get("directory.id")
    directory_id = random_id(new_id) if text is None else id_from_str(text)
    identity = Identity(stored["cluster.id"], int(stored["node.id"]), directory_id)
    if text is None:
        write_meta_properties(disk, directory.path, properties_of(identity))
    return identity
