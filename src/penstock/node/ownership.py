"""To whom the directories of a node belong, as their `meta.properties` say.

All of them name the same cluster and node, and each has an id of its own. Read and checked before
anything in them is touched; what is new is written once they are locked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from penstock.model.id import id_from_str, id_to_str
from penstock.node.format.directory import Directory, check_owner, look
from penstock.node.format.error import FormatError
from penstock.node.identity import FIRST_NODE_ID, Identity, IdentityError, properties_of
from penstock.settings.config import BrokerConfig
from penstock.storage.disk import Disk
from penstock.storage.log_dirs import LogDirs
from penstock.storage.meta_properties import write_meta_properties


class Ownership(NamedTuple):
    identity: Identity
    """With the id of the directory that holds the metadata log."""
    directory_ids: dict[str, bytes]
    """By path; a directory whose disk has failed is left out."""
    unwritten: dict[str, Identity]

    def write(self, disk: Disk) -> None:
        for path, identity in self.unwritten.items():
            write_meta_properties(disk, path, properties_of(identity))


def read_ownership(
    disk: Disk,
    log_dirs: LogDirs,
    config: BrokerConfig,
    new_id: Callable[[], bytes],
    *,
    may_found: bool,
) -> Ownership:
    """And tells the directories their ids."""
    owned = ownership_of(
        disk,
        [each.path for each in log_dirs.all],
        log_dirs.metadata.path,
        config.node_id if config.is_set("node.id") else None,
        new_id,
        may_found=may_found,
    )
    log_dirs.set_ids(owned.directory_ids)
    return owned


def ownership_of(
    disk: Disk,
    paths: Iterable[str],
    metadata_path: str,
    node_id: int | None,
    new_id: Callable[[], bytes],
    *,
    may_found: bool,
) -> Ownership:
    """IdentityError says which directory cannot be this node's. `node_id` is None where only the
    directories know it; `may_found`: directories that are all new become a cluster of one."""
    found = [look(disk, path) for path in paths]
    usable = [each for each in found if not each.disk_failed or each.path == metadata_path]
    stored = next((each.properties for each in usable if each.properties), None)
    if stored is None and may_found and not any(each.problem for each in usable):
        return _found(usable, metadata_path, node_id, new_id)
    _check_formatted(usable)
    cluster_id = "" if stored is None else stored["cluster.id"]
    if node_id is None and stored is not None:
        node_id = int(stored["node.id"])
    try:
        check_owner(usable, cluster_id, -1 if node_id is None else node_id)
    except FormatError as error:
        raise IdentityError(str(error)) from None
    return _owned(usable, metadata_path, new_id)


def _found(
    directories: Sequence[Directory],
    metadata_path: str,
    node_id: int | None,
    new_id: Callable[[], bytes],
) -> Ownership:
    cluster_id = id_to_str(new_id())
    own_id = FIRST_NODE_ID if node_id is None else node_id
    made = {each.path: Identity(cluster_id, own_id, new_id()) for each in directories}
    ids = {path: each.directory_id for path, each in made.items()}
    return Ownership(made[metadata_path], ids, made)


def _check_formatted(directories: Iterable[Directory]) -> None:
    for each in directories:
        if each.problem is not None and each.is_directory and not each.disk_failed:
            raise IdentityError(
                f"{each.problem}. It says which cluster and node the data belongs to: put a copy "
                "back"
            )
        if each.problem is None and not each.is_formatted:
            raise IdentityError(
                f"{each.path} is not formatted: penstock storage format -t CLUSTER_ID -c FILE "
                "says which cluster it belongs to; with --ignore-formatted if other directories are"
            )


def _owned(
    directories: Sequence[Directory], metadata_path: str, new_id: Callable[[], bytes]
) -> Ownership:
    """Directories of an older Kafka have no id yet, and get one."""
    owned: dict[str, Identity] = {}
    unwritten: dict[str, Identity] = {}
    for each in directories:
        stored = each.properties or {}
        text = stored.get("directory.id")
        directory_id = new_id() if text is None else id_from_str(text)
        owned[each.path] = Identity(stored["cluster.id"], int(stored["node.id"]), directory_id)
        if text is None:
            unwritten[each.path] = owned[each.path]
    ids = {path: each.directory_id for path, each in owned.items()}
    return Ownership(owned[metadata_path], ids, unwritten)
