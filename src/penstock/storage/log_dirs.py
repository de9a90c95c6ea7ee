"""The data directories of a node, together: which of them holds a partition, and which have failed.

A partition is where its directory is; a new one goes where fewest are. A directory that fails takes
its own partitions offline and no others. What is known of an offline directory is only that a
partition may be in it: so nothing is made anew elsewhere that could be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from penstock.model.directory_id import NOWHERE, UNASSIGNED
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.model.id import TopicId, TopicPartition
from penstock.storage.dir_lock import DirectoryInUse
from penstock.storage.log import Log
from penstock.storage.log_dir import LogDir, Progress

"""What metadata says of a replica whose directory is not known."""

OnOffline = Callable[[LogDir, StorageError], None]


class LogDirs:
    """`directories` in the order of the settings; the first of them, or the one of `metadata_path`,
    is the one without which there is no node."""

    def __init__(self, directories: Sequence[LogDir], metadata_path: str | None = None) -> None:
        self.all = tuple(directories)
        paths = [each.path for each in self.all]
        self.metadata = self.all[paths.index((metadata_path or paths[0]).rstrip("/"))]
        self.on_offline: OnOffline | None = None
        self._ids: dict[str, bytes] = {}
        self._home: dict[TopicPartition, LogDir] = {}

    @property
    def online(self) -> list[LogDir]:
        return [each for each in self.all if each.offline is None]

    @property
    def is_usable(self) -> bool:
        return self.metadata.offline is None

    @property
    def was_clean(self) -> bool:
        return all(each.was_clean for each in self.online)

    def set_ids(self, ids: Mapping[str, bytes]) -> None:
        """What the `meta.properties` of each directory calls it, by path."""
        self._ids = dict(ids)

    def id_of(self, directory: LogDir) -> bytes:
        return self._ids[directory.path]

    def ids(self, directories: Iterable[LogDir]) -> list[bytes]:
        """As registrations and heartbeats name them; not those that could not even be read."""
        return [self._ids[each.path] for each in directories if each.path in self._ids]

    # --- start and stop -------------------------------------------------------------------

    def open(self) -> None:
        """StorageError if the metadata's directory cannot be used, one is another process's, or
        one partition is in two."""
        for each in self.all:
            each.on_offline = self._watch(each)
            try:
                each.open()
            except DirectoryInUse:
                raise
            except StorageError as error:
                if each is self.metadata:
                    raise
                each.fail(error)
        for each in self.online:
            for partition in each.partitions():
                self._settle(partition, each)

    def recover(self, progress: Progress | None = None, threads: int = 2) -> int:
        return sum(each.recover(progress, threads) for each in self.online)

    def close(self, *, broker_epoch: int = -1) -> None:
        """Each by itself: one that cannot be closed keeps no other from ending well."""
        failed: StorageError | None = None
        for each in self.all:
            try:
                each.close(broker_epoch=broker_epoch)
            except StorageError as error:
                failed = error
        if failed is not None:
            raise failed

    def abandon(self) -> None:
        for each in self.all:
            each.abandon()

    def _watch(self, directory: LogDir) -> Callable[[StorageError], None]:
        def went_offline(error: StorageError) -> None:
            if self.on_offline is not None:
                self.on_offline(directory, error)

        return went_offline

    # --- logs -----------------------------------------------------------------------------

    def home(self, partition: TopicPartition) -> LogDir | None:
        """The directory that holds it; also one that has failed since."""
        return self._home.get(partition)

    def held_by(self, directory: LogDir) -> list[TopicPartition]:
        return [key for key, home in self._home.items() if home is directory]

    def __contains__(self, partition: TopicPartition) -> bool:
        return partition in self._home

    def partitions(self) -> Iterator[TopicPartition]:
        return iter(self._home)

    def log(self, partition: TopicPartition) -> Log | None:
        home = self._home.get(partition)
        return None if home is None else home.log(partition)

    def create_log(
        self,
        partition: TopicPartition,
        topic_id: TopicId,
        *,
        directory_id: bytes = UNASSIGNED,
        is_new: bool = False,
    ) -> Log:
        """The log, or a new, empty one. `directory_id` is where metadata has the replica, and
        `is_new` says that it never was anywhere."""
        home = self._home.get(partition) or self._choose(partition, directory_id, is_new)
        log = home.create_log(partition, topic_id)
        self._home[partition] = home
        return log

    def delete_log(self, partition: TopicPartition) -> None:
        home = self._home.pop(partition, None)
        if home is not None and home.offline is None:
            home.delete_log(partition)

    def set_aside(self, partition: TopicPartition) -> str:
        return self._home.pop(partition).set_aside(partition)

    def _choose(self, partition: TopicPartition, directory_id: bytes, is_new: bool) -> LogDir:
        online = self.online
        if directory_id not in NOWHERE:
            found = [each for each in online if self._ids.get(each.path) == directory_id]
            if not found:
                raise ApiError(
                    ErrorCode.KAFKA_STORAGE_ERROR, f"the directory of {partition} is offline"
                )
            return found[0]
        if not online or (len(online) < len(self.all) and not is_new):
            raise ApiError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                f"{partition} may be in a directory that is offline",
            )
        return min(online, key=self._load)

    def _load(self, directory: LogDir) -> int:
        return sum(1 for _ in directory.partitions())

    def _settle(self, partition: TopicPartition, directory: LogDir) -> None:
        other = self._home.setdefault(partition, directory)
        if other is not directory:
            raise StorageError(
                f"{partition} is in {other.path} and in {directory.path}: move one of the two away"
            )

    # --- upkeep ---------------------------------------------------------------------------

    def checkpoint(self) -> None:
        self._each(LogDir.checkpoint)

    def checkpoint_log_starts(self) -> None:
        self._each(LogDir.checkpoint_log_starts)

    def flush_due(self, now_ms: int) -> list[Log]:
        return [log for each in self.online for log in each.flush_due(now_ms)]

    def _each(self, work: Callable[[LogDir], None]) -> None:
        for directory in self.online:
            try:
                work(directory)
            except StorageError as error:
                directory.fail(error)
