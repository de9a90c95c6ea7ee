"""The logs of this node's replicas: found or made in one of its directories, and told where.

A log is opened when its partition first asks for it. What is wrong with it is noted for whoever
repairs; what lies in a directory and belongs to nobody is put aside.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.metadata.image import ClusterImage
from penstock.model.directory_id import LOST, MIGRATING, NOWHERE, UNASSIGNED
from penstock.model.error import ApiError, StorageError
from penstock.model.id import TopicPartition
from penstock.node.metadata_plane import METADATA_PARTITION
from penstock.node.repairs import WHOLE_LOG
from penstock.replication.partition import Partition
from penstock.storage.damage import DamagedLog
from penstock.storage.log import Log
from penstock.storage.log_dir import LogDir
from penstock.storage.log_dirs import LogDirs
from penstock.telemetry.log import get_logger

log = get_logger("partition")


class ReplicaLogs:
    """`assign` tells the controller in which directory a replica is."""

    def __init__(
        self,
        node_id: int,
        image: ClusterImage,
        log_dirs: LogDirs,
        assign: Callable[[Partition, bytes], None],
        note_damage: Callable[[TopicPartition, int], None],
    ) -> None:
        self._node_id = node_id
        self._image = image
        self._log_dirs = log_dirs
        self._assign = assign
        self._note_damage = note_damage

    def make(self, partition: Partition) -> None:
        """Of a partition that never was anywhere before. With several directories one is chosen at
        once: the controller has to know which."""
        key = _key(partition)
        if len(self._log_dirs.data) == 1 or key in self._log_dirs:
            return
        try:
            self._log_dirs.create_log(
                key, partition.topic_id, directory_id=self._known(key), is_new=True
            )
        except (ApiError, StorageError) as error:
            # Whoever needs it tries again, and is told.
            log.warning("log not made", partition=key, reason=str(error))
        self.tell_home(partition)

    def open(self, partition: Partition) -> Log:
        """With the high watermark it had when that was last written down."""
        key = _key(partition)
        home = self._log_dirs.home(key)
        if home is not None:
            home.check_online()
            if key not in home.damaged:
                try:
                    self._check_topic_id(home, key, partition.topic_id)
                except StorageError as error:
                    home.fail(error)
                    raise
        try:
            opened = self._log_dirs.create_log(
                key,
                partition.topic_id,
                directory_id=self._known(key),
                is_copied=not partition.is_led and partition.leader_id >= 0,
            )
        except ApiError as error:
            if isinstance(error, DamagedLog):
                self._note_damage(key, WHOLE_LOG)
            elif key not in self._log_dirs:
                self._tell(partition, LOST)
            raise
        home = self._log_dirs.home(key)
        assert home is not None
        opened.advance_high_watermark(min(home.high_watermark(key), opened.end_offset))
        self.watch(opened)
        self.tell_home(partition)
        return opened

    def watch(self, opened: Log) -> None:
        """For damage."""
        opened.on_corrupt = self._on_corrupt

    def _on_corrupt(self, damaged: Log, base_offset: int) -> None:
        self._note_damage(damaged.partition, base_offset)

    # Where replicas are

    def tell_home(self, partition: Partition) -> None:
        """To the controller, if it has another idea; also should the directory fail before that
        was told."""
        home = self._log_dirs.home(_key(partition))
        found = None if home is None else self._log_dirs.id_of(home)
        if found is not None:
            self._tell(partition, found)

    def tell_lost(self, partition: Partition) -> None:
        self._assign(partition, LOST)

    def _tell(self, partition: Partition, found: bytes) -> None:
        known = self._known(_key(partition))
        if found == known:
            return
        if known in (MIGRATING, UNASSIGNED) and len(self._log_dirs.data) == 1:
            return  # it can be in no other
        if found == LOST and known not in NOWHERE and not self._may_be_elsewhere(known):
            return  # the controller knows that this directory is away
        self._assign(partition, found)

    def _may_be_elsewhere(self, known: bytes) -> bool:
        """Metadata has it where it is not, and there is a directory that cannot be looked into."""
        offline, online = self._log_dirs.offline, self._log_dirs.online
        return bool(offline) and known in self._log_dirs.ids(online)

    def _known(self, key: TopicPartition) -> bytes:
        """Where metadata has the replica."""
        image = self._image.topics.partition(*key)
        return UNASSIGNED if image is None else image.directory(self._node_id)

    # What belongs to nobody

    def _check_topic_id(self, home: LogDir, key: TopicPartition, topic_id: bytes) -> None:
        stored_id = home.topic_id(key)
        if stored_id == topic_id:
            return
        if (
            stored_id is None
            or stored_id in self._image.topics.by_id
            or _is_nearly(stored_id, topic_id)
        ):
            # Metadata knows better: the id of a topic of another name, or what is left of the
            # right one, is no trace of an earlier topic of this name.
            log.warning("partition.metadata written anew", partition=key)
            home.write_topic_id(key, topic_id)
        else:
            # An earlier topic of that name, deleted while its directory could not be.
            path = home.set_aside(key)
            log.warning("directory of an earlier topic set aside", partition=key, path=path)

    def set_strays_aside(self) -> None:
        """Directories of partitions that the metadata log does not know, or not as this node's,
        are kept, but not used."""
        strays = [
            (home, key)
            for home in self._log_dirs.online
            for key in home.partitions()
            if key != METADATA_PARTITION and not self._is_assigned(key)
        ]
        for home, key in strays:
            path = home.set_aside(key)
            log.warning("directory of an unknown partition set aside", partition=key, path=path)

    def _is_assigned(self, key: TopicPartition) -> bool:
        image = self._image.topics.partition(*key)
        return image is not None and self._node_id in image.replicas


def _key(partition: Partition) -> TopicPartition:
    return TopicPartition(partition.topic, partition.index)


def _is_nearly(stored: bytes, wanted: bytes) -> bool:
    """Ids are random: two of them share four bytes once in millions of times."""
    return sum(one == other for one, other in zip(stored, wanted, strict=True)) >= 4
