"""What the directories of a node are before they are formatted: empty, formatted, or unusable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from stat import S_ISDIR

from penstock.node.format.error import FormatError
from penstock.node.identity import check_stored
from penstock.storage import names
from penstock.storage.damage import DamagedFile
from penstock.storage.disk import Disk
from penstock.storage.meta_properties import read_meta_properties

METADATA_DIR = "__cluster_metadata-0"


@dataclass(frozen=True, slots=True)
class Directory:
    """As it was found."""

    path: str
    exists: bool = False
    is_directory: bool = False
    properties: dict[str, str] | None = None
    """What `meta.properties` says; None where the directory is not formatted."""
    problem: str | None = None
    """Why it cannot be used."""
    disk_failed: bool = False

    @property
    def is_formatted(self) -> bool:
        return self.properties is not None


def look(disk: Disk, path: str) -> Directory:
    try:
        if not S_ISDIR(disk.stat(path).st_mode):
            return Directory(path, exists=True, problem=f"{path} is not a directory")
    except (FileNotFoundError, NotADirectoryError):
        return Directory(path)
    except OSError as error:
        return _failed(path, error)
    return _look_inside(disk, path)


def _look_inside(disk: Disk, path: str) -> Directory:
    try:
        stored = read_meta_properties(disk, path)
        if stored is not None:
            check_stored(stored)
        return Directory(path, exists=True, is_directory=True, properties=stored)
    except (DamagedFile, ValueError) as damage:
        problem = f"Error loading {path}/{names.META_PROPERTIES}: {damage}"
        return Directory(path, exists=True, is_directory=True, problem=problem)
    except OSError as error:
        return _failed(path, error)


def _failed(path: str, error: OSError) -> Directory:
    problem = f"{path} cannot be read: {_reason(error)}"
    return Directory(path, exists=True, is_directory=True, problem=problem, disk_failed=True)


def check_owner(directories: Iterable[Directory], cluster_id: str, node_id: int) -> None:
    """FormatError where one belongs to another cluster or node, or cannot be used at all."""
    seen: dict[str, str] = {}
    for each in directories:
        if each.problem is not None:
            raise FormatError(f"{each.problem}; mend it, or name another directory in log.dirs")
        stored = each.properties
        if stored is None:
            continue
        if stored["cluster.id"] != cluster_id:
            raise FormatError(
                f"{each.path} belongs to cluster {stored['cluster.id']}, not {cluster_id}: name "
                "another directory in log.dirs, or that cluster"
            )
        if int(stored["node.id"]) != node_id:
            raise FormatError(
                f"{each.path} belongs to node {stored['node.id']}, but node.id is {node_id}: name "
                "another directory in log.dirs, or set that node.id"
            )
        twin = seen.setdefault(stored.get("directory.id", each.path), each.path)
        if twin != each.path:
            raise FormatError(
                f"{each.path} has the directory.id of {twin}: one is a copy of the other; remove "
                "it from log.dirs"
            )


def check_empty(disk: Disk, directory: Directory) -> None:
    """FormatError for data that no `meta.properties` gives to anybody: formatting would give it to
    the new cluster."""
    if not directory.is_directory:
        return
    path = directory.path
    try:
        held = sorted(name for name in disk.listdir(path) if _is_data(disk, path, name))
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {_reason(error)}") from error
    if held:
        raise FormatError(
            f"{path} has no {names.META_PROPERTIES}, and yet data, {held[0]}: put a copy of "
            f"{names.META_PROPERTIES} back, or name another directory in log.dirs"
        )


def _is_data(disk: Disk, path: str, name: str) -> bool:
    if name != METADATA_DIR:
        return names.parse_partition_dir(name) is not None
    # Its first snapshot alone is what a formatting leaves that was cut short.
    return any(each.endswith(names.LOG) for each in disk.listdir(f"{path}/{name}"))


def differing(directories: Sequence[Directory], key: str) -> bool:
    return len({each.properties[key] for each in directories if each.properties}) > 1


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
