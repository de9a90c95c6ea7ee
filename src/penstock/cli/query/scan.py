"""Reads ranges of offsets in parallel, and hands out what they hold as it comes.

Each thread has connections of its own, one for each leader. What was read waits in a queue of
bounded length; when nobody wants more, the threads end.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from penstock.cli.failure import Failure
from penstock.cli.interrupt import check_interrupt
from penstock.cli.leader_call import Address, Leaders, fetch, leaders_of, read_metadata
from penstock.cli.operator.link import Link, error_name
from penstock.cli.query.batch import Wanted, next_offset, record_batches
from penstock.cli.wire_call import BrokerConnection, Unreachable
from penstock.model.error import ErrorCode
from penstock.protocol.messages.fetch import PartitionData

THREADS: Final = 4
_FIRST_BYTES: Final = 256 << 10
_BYTES_MAX: Final = 8 << 20
_GROWTH: Final = 4
_QUEUE: Final = 8
_TRIES: Final = 10
_PAUSE_S: Final = 0.5
_LOOK_S: Final = 0.2
_PASSING: Final = frozenset(
    (
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.OFFSET_NOT_AVAILABLE,
    )
)


class RangeScan:
    def __init__(self, link: Link, leaders: Leaders, ranges: Iterable[Wanted]) -> None:
        self._link = link
        self._leaders = leaders
        self._left = deque(ranges)
        self._found: queue.Queue[pa.RecordBatch | BaseException | None] = queue.Queue(_QUEUE)
        self._ended = threading.Event()
        self._threads = [
            threading.Thread(target=self._work, name=f"penstock-sql-{index}", daemon=True)
            for index in range(min(THREADS, len(self._left)))
        ]

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for thread in self._threads:
            thread.start()
        working = len(self._threads)
        try:
            while working:
                got = self._next()
                if isinstance(got, BaseException):
                    raise got
                if got is None:
                    working -= 1
                elif got.num_rows:
                    yield got
        finally:
            self.close()

    def _next(self) -> pa.RecordBatch | BaseException | None:
        while True:
            check_interrupt()
            try:
                return self._found.get(timeout=_LOOK_S)
            except queue.Empty:
                if self._ended.is_set():
                    return None

    def close(self) -> None:
        """Nobody wants more."""
        self._ended.set()
        for thread in self._threads:
            if thread.ident is not None and thread is not threading.current_thread():
                thread.join()

    def _work(self) -> None:
        connections: dict[Address, BrokerConnection] = {}
        try:
            while not self._ended.is_set():
                try:
                    wanted = self._left.popleft()
                except IndexError:
                    break
                self._read(wanted, connections)
            self._put(None)
        except BaseException as error:
            self._put(error)
        finally:
            for connection in connections.values():
                connection.close()

    def _put(self, item: pa.RecordBatch | BaseException | None) -> None:
        while not self._ended.is_set():
            try:
                self._found.put(item, timeout=_LOOK_S)
                return
            except queue.Full:
                continue

    def _read(self, wanted: Wanted, connections: dict[Address, BrokerConnection]) -> None:
        offset, size = wanted.first, _FIRST_BYTES
        while offset < wanted.last and not self._ended.is_set():
            data = self._fetch(wanted, offset, size, connections)
            if data is None:
                return
            behind = next_offset(data)
            if behind is None:
                if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                    # Retention has taken the beginning while it was read.
                    offset = max(data.log_start_offset, offset + 1)
                    continue
                return
            for batch in record_batches(data, wanted):
                self._put(batch)
            offset, size = behind, min(size * _GROWTH, _BYTES_MAX)

    def _fetch(
        self,
        wanted: Wanted,
        offset: int,
        size: int,
        connections: dict[Address, BrokerConnection],
    ) -> PartitionData | None:
        place = (wanted.topic, wanted.partition)
        problem: str = "it has no leader"
        for _ in range(_TRIES):
            address = self._leaders.by_place.get(place)
            try:
                if address is not None:
                    if address not in connections:
                        connections[address] = BrokerConnection(self._link.connect, *address)
                    answer = fetch(
                        connections[address],
                        {place: offset},
                        bytes_max=size,
                        partition_bytes_max=size,
                        pause=self._ended.wait,
                    ).get(place)
                    if answer is not None and answer.error_code not in _PASSING:
                        return _checked(answer, wanted)
                    problem = "no answer" if answer is None else error_name(answer.error_code)
            except Unreachable as error:
                problem = str(error)
                if address in connections:
                    connections.pop(address).close()
            if self._ended.wait(_PAUSE_S):
                return None
            self._leaders = leaders_of(read_metadata(self._link, [wanted.topic]))
        raise Failure(f"{wanted.topic}-{wanted.partition} cannot be read: {problem}")


def _checked(data: PartitionData, wanted: Wanted) -> PartitionData:
    if data.error_code and data.error_code != ErrorCode.OFFSET_OUT_OF_RANGE:
        name = error_name(data.error_code)
        raise Failure(f"{wanted.topic}-{wanted.partition} cannot be read: {name}")
    return data
