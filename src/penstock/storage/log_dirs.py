"""The data directories of a node, together: which of them holds a partition, and which have failed.

A partition is where its directory is; a new one goes where fewest are, among those that are not
cordoned. A directory that fails takes its own partitions offline and no others. What is known of an
offline directory is only that a partition may be in it: so nothing is made anew elsewhere that
could be there. A log that was on its way from one directory to another when the node ended is in
one of them (`promotion`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from penstock.model.directory_id import NOWHERE, UNASSIGNED
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.model.id import TopicId, TopicPartition, id_to_str
from penstock.storage.damage import is_of_one_file
from penstock.storage.dir_lock import DirectoryInUse
from penstock.storage.log import Log
from penstock.storage.log_dir import LogDir, Progress
from penstock.storage.promotion import give_up, is_complete, put_in_place, topic_id_of

_METADATA_LOG: Final = TopicPartition("__cluster_metadata", 0)
_PREFERRED_MAX: Final = 10_000

OnOffline = Callable[[LogDir, StorageError], None]


class LogDirs:
    """`data` in the order of the settings. `metadata` is one of them, or one of its own, and there
    is no node without it."""

    def __init__(self, data: Sequence[LogDir], metadata: LogDir | None = None) -> None:
        self.data = tuple(data)
        self.metadata = self.data[0] if metadata is None else metadata
        self.all = self.data if self.metadata in self.data else (*self.data, self.metadata)
        self.on_offline: OnOffline | None = None
        self.cordoned: frozenset[str] = frozenset()
        """Paths of directories that take no new replicas (KIP-1066)."""
        self._ids: dict[str, bytes] = {}
        self._preferred: dict[TopicPartition, LogDir] = {}
        self.unfinished: dict[TopicPartition, LogDir] = {}
        """Where logs were to go when the node ended; their copies are begun anew."""
        self.kept_copies: dict[TopicPartition, tuple[LogDir, str]] = {}
        """Copies of logs that are in no directory that is here."""

    @property
    def online(self) -> list[LogDir]:
        return [each for each in self.all if each.offline is None]

    @property
    def offline(self) -> list[LogDir]:
        return [each for each in self.all if each.offline is not None]

    @property
    def is_usable(self) -> bool:
        """Whether there is anything left for a node to work with."""
        return self.metadata.offline is None and any(each.offline is None for each in self.data)

    @property
    def was_clean(self) -> bool:
        return all(each.was_clean for each in self.all)

    @property
    def last_broker_epoch(self) -> int:
        """Of the life that ended orderly; -1 unless every directory is there and says the same."""
        told = {each.last_broker_epoch for each in self.all}
        return told.pop() if len(told) == 1 and not self.offline else -1

    def set_ids(self, ids: Mapping[str, bytes]) -> None:
        """What the `meta.properties` of each directory calls it, by path."""
        self._ids = dict(ids)

    def id_of(self, directory: LogDir) -> bytes | None:
        """None of one that could not even be read."""
        return self._ids.get(directory.path)

    def ids(self, directories: Iterable[LogDir]) -> list[bytes]:
        """As registrations and heartbeats name them: sorted, of those that hold replicas, and not
        of those that could not even be read."""
        known = {each.path for each in directories} & {each.path for each in self.data}
        return sorted(self._ids[path] for path in known if path in self._ids)

    # --- start and stop -------------------------------------------------------------------

    def open(self) -> None:
        """StorageError if the metadata's directory cannot be used, one is another process's or not
        to be written to, or one partition is in two. One whose disk has failed is left out."""
        for each in self.all:
            each.on_offline = self._watch(each)
        try:
            # All are locked before the first is touched: a start that is refused changes nothing.
            self._try_each(LogDir.lock)
            self._try_each(LogDir.open)
            self._try_each(self._settle_moves)
            self._check_twins()
        except BaseException:
            self.abandon()
            raise

    def _try_each(self, step: Callable[[LogDir], None]) -> None:
        for each in self.online:
            try:
                step(each)
            except StorageError as error:
                if each is self.metadata or not _is_disk_failure(error):
                    raise
                each.fail(error)

    def _settle_moves(self, target: LogDir) -> None:
        """Into this directory, that were under way when the node ended."""
        for partition, copy in sorted(target.found_futures):
            try:
                if partition in self:
                    give_up(target, copy)
                    self.unfinished[partition] = target
                elif not self.offline and is_complete(target.disk, copy):
                    put_in_place(target, partition, copy)
                else:
                    self.kept_copies[partition] = target, copy
            except OSError as error:
                raise StorageError(f"cannot end a move into {target.path}: {error}") from error

    def drop_copy(self, partition: TopicPartition) -> None:
        """Nobody needs it: the partition is not here, or another replica has all of it."""
        kept = self.kept_copies.pop(partition, None)
        if kept is not None and kept[0].offline is None:
            give_up(*kept)

    def _check_twins(self) -> None:
        if len(self.all) == 1:
            return
        seen: dict[TopicPartition, LogDir] = {}
        for each in self.online:
            for partition in each.partitions():
                other = seen.setdefault(partition, each)
                if other is not each:
                    raise StorageError(
                        f"{partition} is in {other.path} and in {each.path}: move one of the two "
                        "away"
                    )

    def recover(self, progress: Progress | None = None, threads: int = 2) -> int:
        count = 0
        for each in self.online:
            try:
                count += each.recover(progress, threads)
            except StorageError as error:
                if each is self.metadata:
                    raise
                each.fail(error)
        return count

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
        for each in self.all:
            if partition in each:
                return each
        return None

    def __contains__(self, partition: TopicPartition) -> bool:
        return self.home(partition) is not None

    def partitions(self) -> Iterator[TopicPartition]:
        """In directories that can be used."""
        for each in self.online:
            yield from each.partitions()

    def is_damaged(self, partition: TopicPartition) -> bool:
        return any(partition in each.damaged for each in self.all)

    def create_log(
        self,
        partition: TopicPartition,
        topic_id: TopicId,
        *,
        directory_id: bytes = UNASSIGNED,
        is_new: bool = False,
        is_copied: bool = False,
    ) -> Log:
        """The log, or a new, empty one. `directory_id` is where metadata has the replica; `is_new`
        says that it never was anywhere, `is_copied` that another replica has all of it."""
        home = self.home(partition)
        if home is None:
            if partition in self.kept_copies:
                self._check_copy(partition, topic_id, is_new, is_copied)
            home = self._choose(partition, directory_id, is_new, is_copied)
        try:
            return home.create_log(partition, topic_id)
        except StorageError as error:
            home.fail(error)
            raise

    def delete_log(self, partition: TopicPartition) -> None:
        home = self.home(partition)
        if home is None:
            return
        if home.offline is not None:
            home.forget(partition)
            return
        try:
            home.delete_log(partition)
        except StorageError as error:
            home.fail(error)

    def fail(self, partition: TopicPartition, error: StorageError) -> None:
        """The disk under the partition has failed."""
        home = self.home(partition)
        if home is not None:
            home.fail(error)

    def fail_under(self, log: Log, error: StorageError) -> None:
        """The disk under this log, which may be a copy, or have been replaced by one."""
        for each in self.all:
            if log.directory.startswith(f"{each.path}/"):
                each.fail(error)

    def prefer(self, partition: TopicPartition, directory: LogDir) -> None:
        """Should a replica of it ever be made here, then there. The latest wishes are kept."""
        self._preferred.pop(partition, None)
        self._preferred[partition] = directory
        if len(self._preferred) > _PREFERRED_MAX:
            del self._preferred[next(iter(self._preferred))]

    def _check_copy(
        self, partition: TopicPartition, topic_id: TopicId, is_new: bool, is_copied: bool
    ) -> None:
        """The log was being moved, and the directory it was in is not here, or is another by now:
        what there is of the copy must not be taken for it, nor for nothing."""
        target, copy = self.kept_copies[partition]
        is_other = topic_id_of(target.disk, copy) != topic_id
        if not is_other and (self.offline or not (is_new or is_copied)):
            raise _offline(f"{partition} was being moved to {target.path} from where it still is")
        self.drop_copy(partition)

    def _choose(
        self, partition: TopicPartition, directory_id: bytes, is_new: bool, is_copied: bool
    ) -> LogDir:
        online = [each for each in self.data if each.offline is None]
        all_known = len(online) == len(self.data)
        preferred = self._preferred.pop(partition, None)
        if is_new and preferred in online:
            return preferred
        if directory_id not in NOWHERE:
            for each in online:
                if self._ids.get(each.path) == directory_id:
                    return each
            # A disk that was replaced: its replicas are fetched anew. What nobody else has stays
            # away, rather than begin again with nothing.
            if not (all_known and is_copied):
                raise _offline(f"the directory of {partition}, {id_to_str(directory_id)}, is away")
        elif not online or not (all_known or is_new):
            raise _offline(f"{partition} may be in a directory that is offline")
        # The controller may have chosen this node just before its last directory was cordoned.
        candidates = [each for each in online if each.path not in self.cordoned] or online
        return candidates[0] if len(candidates) == 1 else min(candidates, key=_load)

    # --- upkeep ---------------------------------------------------------------------------

    def checkpoint(self) -> None:
        self._each(LogDir.checkpoint)

    def checkpoint_log_starts(self) -> None:
        self._each(LogDir.checkpoint_log_starts)

    def checkpoint_of(self, log: Log) -> None:
        """Of the directory that holds the log alone."""
        home = self.home(log.partition)
        if home is not None:
            home.checkpoint()

    def _each(self, work: Callable[[LogDir], None]) -> None:
        for directory in self.online:
            try:
                work(directory)
            except StorageError as error:
                directory.fail(error)


def _load(directory: LogDir) -> int:
    """Kafka's rule: the directory with the fewest partitions; the metadata log is none."""
    return directory.partition_count - (_METADATA_LOG in directory)


def _offline(message: str) -> ApiError:
    return ApiError(ErrorCode.KAFKA_STORAGE_ERROR, message)


def _is_disk_failure(error: StorageError) -> bool:
    """And not a mistake of whoever set the node up, who is told at once."""
    if isinstance(error, DirectoryInUse):
        return False
    cause = error.__cause__
    return not (isinstance(cause, OSError) and is_of_one_file(cause))
