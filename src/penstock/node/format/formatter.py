"""Formatting the directories of a node, each with the files that Kafka's tool writes.

`meta.properties` comes last: a directory that was not finished has none, and is formatted again.
Nothing is written before everything has been looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from penstock.metadata.release import KRAFT_VERSION, RELEASES
from penstock.metadata.version import METADATA_VERSION
from penstock.model.id import id_to_str
from penstock.node.cluster_config import ClusterConfig
from penstock.node.format.checkpoint import bootstrap_checkpoint, quorum_checkpoint
from penstock.node.format.directory import (
    METADATA_DIR,
    Directory,
    check_empty,
    check_owner,
    look,
)
from penstock.node.format.error import FormatError
from penstock.node.format.voter import InitialVoter, is_reserved
from penstock.node.identity import Identity, is_cluster_id, properties_of
from penstock.protocol.messages.records.user_scram_credential_record import (
    UserScramCredentialRecord,
)
from penstock.quorum.metadata_snapshot import BOOTSTRAP_FILE, BOOTSTRAP_ID, file_name
from penstock.storage.disk import Disk, replace_file
from penstock.storage.meta_properties import write_meta_properties

FIRST_SNAPSHOT = file_name(BOOTSTRAP_ID)


@dataclass(frozen=True, slots=True)
class NewCluster:
    """What every node of one cluster is formatted with."""

    id: str
    levels: Mapping[str, int]
    voters: tuple[InitialVoter, ...] = ()
    """The first of a quorum that can change; none where the settings fix them, or others do."""
    users: tuple[UserScramCredentialRecord, ...] = ()


class Formatter:
    """`new_id` gives sixteen bytes at random."""

    def __init__(
        self,
        cluster: ClusterConfig,
        new: NewCluster,
        disk: Disk,
        now_ms: Callable[[], int],
        new_id: Callable[[], bytes],
    ) -> None:
        self._cluster = cluster
        self._new = new
        self._disk = disk
        self._now_ms = now_ms
        self._new_id = new_id

    def unformatted(self, *, ignore_formatted: bool = False) -> Sequence[Directory]:
        """Those that can be formatted; FormatError if any of all cannot be this node's."""
        if not is_cluster_id(self._new.id):
            raise FormatError(
                f"--cluster-id {self._new.id}: an id has 1 to 64 letters, digits, _ and -; "
                "`penstock storage random-uuid` makes one"
            )
        directories = [look(self._disk, path) for path in self._cluster.directories]
        check_owner(directories, self._new.id, self._cluster.node_id)
        unformatted = [each for each in directories if not each.is_formatted]
        if len(unformatted) < len(directories) and not ignore_formatted:
            formatted = next(each.path for each in directories if each.is_formatted)
            raise FormatError(
                f"Log directory {formatted} is already formatted. Use --ignore-formatted to "
                "ignore this directory and format the others."
            )
        for each in unformatted:
            check_empty(self._disk, each)
        return unformatted

    def run(self, unformatted: Sequence[Directory]) -> Iterator[str]:
        """A line for each directory, before it is formatted."""
        if not unformatted:
            yield "All of the log directories are already formatted."
        release = RELEASES[self._new.levels[METADATA_VERSION]]
        for directory in unformatted:
            kind = self._kind(directory.path)
            yield f"Formatting {kind} {directory.path} with {METADATA_VERSION} {release}."
            self._format(directory.path)

    def _format(self, path: str) -> None:
        now_ms = self._now_ms()
        try:
            self._disk.mkdir(path)
            first = bootstrap_checkpoint(self._new.levels, now_ms, self._new.users)
            self._write(f"{path}/{BOOTSTRAP_FILE}", first)
            if path == self._cluster.metadata_dir and self._new.voters:
                self._disk.mkdir(f"{path}/{METADATA_DIR}")
                self._write(f"{path}/{METADATA_DIR}/{FIRST_SNAPSHOT}", self._quorum(now_ms))
            write_meta_properties(self._disk, path, properties_of(self._identity(path)))
        except OSError as error:
            reason = error.strerror or str(error)
            raise FormatError(
                f"cannot format {path}: {reason}; mend it, and format again with --ignore-formatted"
            ) from error

    def _write(self, path: str, data: bytes) -> None:
        replace_file(self._disk, path, data)

    def _quorum(self, now_ms: int) -> bytes:
        return quorum_checkpoint(
            self._new.voters,
            self._cluster.controller_listener,
            self._new.levels[KRAFT_VERSION],
            now_ms,
        )

    def _own_voter(self, path: str) -> InitialVoter | None:
        if path != self._cluster.metadata_dir:
            return None
        return next((each for each in self._new.voters if each.id == self._cluster.node_id), None)

    def _identity(self, path: str) -> Identity:
        voter = self._own_voter(path)
        directory_id = random_id(self._new_id) if voter is None else voter.directory_id
        return Identity(self._new.id, self._cluster.node_id, directory_id)

    def _kind(self, path: str) -> str:
        if path != self._cluster.metadata_dir:
            return "data directory"
        if self._own_voter(path) is not None:
            return "dynamic metadata voter directory"
        return "dynamic metadata directory" if self._new.voters else "metadata directory"


def random_id(new_id: Callable[[], bytes]) -> bytes:
    """As Kafka's: none that means something, none that a command line takes for an option."""
    while True:
        found = new_id()
        if not is_reserved(found) and not id_to_str(found).startswith("-"):
            return found
