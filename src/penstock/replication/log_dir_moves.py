"""Replicas that move between the directories of this node (KIP-113, KIP-858).

A move copies the log in small steps while it is served, tells the controller, and when the copy has
everything puts it in the place of the log, in one step of the event loop: nobody who writes, reads
or waits notices more than a pause. Which disk steps that takes, and why a crash between any two
loses nothing, is in `storage/promotion`.

The controller hears of the new directory before, as in Kafka: a directory that fails takes away
those replicas that metadata has in it. Were it told afterwards, a node that ended in between and
came back without that disk would make the replica anew where metadata has it, with nothing in it.
Until then the log is where it was, whatever metadata says; a move that ends early says so.

A node that is started again begins the copies anew: what there is of one is not compared with a log
that may have been cut since.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from penstock.metadata.image import ClusterImage
from penstock.metadata.version import DIRECTORIES_LEVEL, METADATA_VERSION
from penstock.model.clock import Clock
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.model.id import TopicPartition
from penstock.replication.log_dir_move import LogDirMove
from penstock.replication.partition import Partition
from penstock.replication.partition_set import PartitionSet
from penstock.replication.throttle import ReplicationQuota
from penstock.storage import names
from penstock.storage.log import Log
from penstock.storage.log_dir import LogDir
from penstock.storage.log_dirs import LogDirs
from penstock.storage.promotion import promote
from penstock.telemetry.log import get_logger

COPY_BYTES = 128 << 10
STEP_BYTES = 4 << 20
STEP_S = 0.005
"""A step of one move goes so far; then everybody else has a turn of the event loop."""
TELL_AGAIN_S = 2.0

log = get_logger("directories")


class Hands(Protocol):
    """What a move does to a replica of this node."""

    def assign(self, partition: Partition, directory_id: bytes) -> None:
        """Tell the controller in which directory it is, or is to be."""
        ...

    def go_on_with(self, partition: Partition, moved: Log) -> None: ...

    def end(self, partition: Partition, error: Exception) -> None:
        """It is served no longer, until the next start."""
        ...


class LogDirMoves:
    """`rate` is in bytes per second, for all moves together."""

    def __init__(
        self,
        node_id: int,
        image: ClusterImage,
        log_dirs: LogDirs,
        partitions: PartitionSet,
        clock: Clock,
        flush: Callable[[Log], None],
        rate: Callable[[], int],
        hands: Hands,
    ) -> None:
        self._node_id = node_id
        self._image = image
        self._log_dirs = log_dirs
        self._partitions = partitions
        self._clock = clock
        self._flush = flush
        self._rate = rate
        self._hands = hands
        self._quota = ReplicationQuota()
        self._moves: dict[TopicPartition, LogDirMove] = {}

    @property
    def count(self) -> int:
        return len(self._moves)

    # What is asked for

    def alter(self, path: str, key: TopicPartition) -> ErrorCode:
        """The replica is wanted in that directory; in the order in which Kafka looks at it."""
        if not names.may_be_moved(key):
            return ErrorCode.INVALID_TOPIC_EXCEPTION
        target = next((each for each in self._log_dirs.data if each.path == path), None)
        if target is None:
            return ErrorCode.LOG_DIR_NOT_FOUND
        if target.offline is None and target.path in self._log_dirs.cordoned:
            return ErrorCode.INVALID_REPLICA_ASSIGNMENT
        return self._take_up(key, target)

    def _take_up(self, key: TopicPartition, target: LogDir) -> ErrorCode:
        partition = self._partitions.get(*key)
        if target.offline is not None or (partition is not None and partition.ended is not None):
            return ErrorCode.KAFKA_STORAGE_ERROR
        move = self._moves.get(key)
        if move is not None and (move.target is not target or move.partition is not partition):
            self._end(move, "another directory is wanted")
        if partition is None:
            self._log_dirs.prefer(key, target)
            if self._image.topics.partition(*key) is None:
                return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            return ErrorCode.REPLICA_NOT_AVAILABLE
        try:
            self._begin(partition, key, target)
        except ApiError as error:
            reason = str(error)
            log.warning("replica not moved", partition=key, to=target.path, reason=reason)
            return error.code
        except StorageError as error:
            target.fail(error)
            return ErrorCode.KAFKA_STORAGE_ERROR
        return ErrorCode.NONE

    def _begin(self, partition: Partition, key: TopicPartition, target: LogDir) -> None:
        _ = partition.log
        source = self._log_dirs.home(key)
        if source is None or source is target or key in self._moves:
            return
        if any(each.offline is not None for each in self._log_dirs.data):
            # A copy of it may be in there.
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "a data directory is offline")
        self._moves[key] = LogDirMove(partition, source, target)
        log.info("replica moves", partition=key, directory=source.path, to=target.path)

    def resume(self) -> None:
        """At start: the moves that were under way when the node ended, also into a directory that
        was cordoned since."""
        for key, target in sorted(self._log_dirs.unfinished.items(), key=lambda each: each[0]):
            if self._partitions.get(*key) is not None:
                self._take_up(key, target)
        self._log_dirs.unfinished.clear()
        for key in list(self._log_dirs.kept_copies):
            if self._partitions.get(*key) is None:
                self._log_dirs.drop_copy(key)

    def on_flush_failed(self, failed: Log) -> None:
        """Of a copy; the disk itself is in order."""
        move = self._moves.get(failed.partition)
        if move is not None and move.future is failed:
            self._end(move, "its copy cannot be synced")

    # What is done about it

    async def work(self) -> None:
        """From time to time: as much as can be done now."""
        busy = True
        while self._moves and busy:
            busy = False
            for move in list(self._moves.values()):
                await asyncio.sleep(0)
                if self._moves.get(move.key) is move:
                    busy |= self._advance(move)

    def _advance(self, move: LogDirMove) -> bool:
        """Whether anything has come of it."""
        try:
            if self._partitions.get(*move.key) is move.partition and move.is_possible:
                return self._step(move)
            self._end(move, "the replica or a disk is gone")
        except (ApiError, StorageError) as error:
            self._fail(move, error)
        return False

    def _step(self, move: LogDirMove) -> bool:
        copied = self._copy(move)
        move.flush_some(self._flush)
        if move.lag or not move.is_safe(self._flush) or not self._is_told(move):
            return copied > 0
        if move.expected_start != move.current.log_start_offset:
            move.expected_start = move.current.log_start_offset
            move.target.expect(move.current, move.future.recovery_point)
        else:
            self._finish(move)
        return True

    def _copy(self, move: LogDirMove) -> int:
        """Until it is level, a step far, or as fast as the rate allows."""
        copied = 0
        began_s = now_s = self._clock.monotonic()
        self._quota.set_rate(self._rate(), now_s)
        while copied < STEP_BYTES and now_s - began_s < STEP_S:
            if self._quota.is_exceeded(now_s):
                break
            size = move.copy(COPY_BYTES, self._clock.now_ms())
            self._quota.note(size, now_s)
            copied += size
            if not move.lag:
                break
            now_s = self._clock.monotonic()
        return copied

    def _is_told(self, move: LogDirMove) -> bool:
        """Whether metadata has the replica in the directory it moves to; if not, that is said."""
        if self._image.features.get(METADATA_VERSION, 0) < DIRECTORIES_LEVEL:
            return True
        image = self._image.topics.partition(*move.key)
        wanted = self._log_dirs.id_of(move.target)
        if image is None or wanted is None or image.directory(self._node_id) == wanted:
            return True
        now_s = self._clock.monotonic()
        if move.told_s is None or now_s - move.told_s >= TELL_AGAIN_S:
            move.told_s = now_s
            self._hands.assign(move.partition, wanted)
        return False

    def _finish(self, move: LogDirMove) -> None:
        moved = promote(move.source, move.target, move.current, move.future)
        del self._moves[move.key]
        self._hands.go_on_with(move.partition, moved)
        self._assign(move, move.target)
        log.info("replica moved", partition=move.key, to=move.target.path)

    def _fail(self, move: LogDirMove, error: ApiError | StorageError) -> None:
        if not move.current.closed:
            self._end(move, str(error))
            return
        # The log has left its directory, or may have: which of the two is served, the next start
        # sees. The copy stays as it is.
        self._moves.pop(move.key, None)
        move.target.futures.pop(move.key, None)
        log.error("replica offline in the middle of a move", partition=move.key, reason=str(error))
        self._hands.end(move.partition, error)
        self._assign(move, move.target if move.key in move.target else move.source)

    def _end(self, move: LogDirMove, why: str) -> None:
        """Where it was it stays."""
        self._moves.pop(move.key, None)
        log.warning("replica not moved", partition=move.key, to=move.target.path, reason=why)
        try:
            move.target.drop_future(move.key)
        except StorageError as error:
            move.target.fail(error)
        if move.told_s is not None and self._partitions.get(*move.key) is move.partition:
            self._assign(move, move.source)

    def _assign(self, move: LogDirMove, directory: LogDir) -> None:
        """Whatever metadata says: something else may be on its way."""
        found = self._log_dirs.id_of(directory)
        if move.told_s is not None and found is not None:
            self._hands.assign(move.partition, found)
