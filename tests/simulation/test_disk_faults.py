"""A log on a disk that crashes, tears, fills up and rots, against a model of what must survive."""

from __future__ import annotations

import errno
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.records.header import BatchHeader, check_batch, iter_batches
from penstock.storage.log import Log
from penstock.storage.lookup import max_timestamp_offset, offset_for_timestamp
from penstock.testing.disk import FaultyDisk
from tests.unit.storage.storage_kit import Bench, Settings, batch

SMALL = Settings(segment_bytes=6000, index_interval_bytes=300, file_delete_delay_ms=0)

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 5), st.integers(1, 900)),
        st.tuples(st.just("flush")),
        st.tuples(st.just("roll")),
        st.tuples(st.just("crash")),
        st.tuples(st.just("kill")),
        st.tuples(st.just("reopen")),
        st.tuples(st.just("fill"), st.integers(0, 1500)),
        st.tuples(st.just("read"), st.floats(0, 1), st.integers(1, 5000)),
    ),
    max_size=40,
)


def read_all(log: Log, start: int = 0, max_bytes: int = 2000) -> list[tuple[BatchHeader, bytes]]:
    found: list[tuple[BatchHeader, bytes]] = []
    offset = start
    while offset < log.end_offset:
        result = log.read(offset, max_bytes, log.end_offset)
        data = b"".join(part.read() for part in result.slices)
        assert data, f"nothing to read at {offset} before the end {log.end_offset}"
        for position, header in iter_batches(data, 0, len(data)):
            check_batch(data, position, len(data))
            found.append((header, data[position : position + header.size]))
            offset = header.next_offset
    return found


def check_indexes(log: Log) -> None:
    for segment in log.segments:
        batches = dict(segment.batches())
        last = -1
        for relative, position in segment.index.entries():
            assert batches[position].last_offset == segment.base_offset + relative
            assert relative > last
            last = relative
        newest, seen = -1, -1
        by_last = {header.last_offset: header for header in batches.values()}
        for timestamp, relative in segment.time_index.entries():
            assert by_last[segment.base_offset + relative].max_timestamp == timestamp
            assert timestamp > newest and relative > seen
            newest, seen = timestamp, relative


class Model:
    """Everything appended, in order, and how much of it was reported as safe."""

    def __init__(self, seed: int) -> None:
        self.disk = FaultyDisk(seed)
        self.bench = Bench("/data", SMALL, self.disk)
        self.disk.mkdir("/data")
        self.disk.sync_all()
        self.appended: dict[int, bytes] = {}
        self.safe = 0
        self.clock = 1000
        self.log = self.bench.open(clean=False)

    def append(self, count: int, size: int) -> None:
        self.clock += 7
        data = batch(count, size=size, timestamp=self.clock)
        before = self.log.end_offset
        try:
            result = self.log.append(data, 0, self.clock)
        except ApiError as error:
            assert error.code is ErrorCode.KAFKA_STORAGE_ERROR
            assert self.log.end_offset == before
        else:
            self.appended[result.first_offset] = bytes(data)

    def flush(self) -> None:
        self.log.flush()
        self.safe = max(self.safe, self.log.recovery_point)

    def roll(self) -> None:
        try:
            self.log.roll()
        except ApiError as error:
            assert error.code is ErrorCode.KAFKA_STORAGE_ERROR

    def fill(self, left: int) -> None:
        self.disk.free_bytes = left

    def crash(self) -> None:
        self.disk.crash()
        self._restart(clean=False)

    def kill(self) -> None:
        self.disk.kill()
        end = self.log.end_offset
        self._restart(clean=False)
        assert self.log.end_offset == end

    def reopen(self) -> None:
        self.disk.free_bytes = None
        end = self.log.end_offset
        self.log.close()
        self.safe = end
        self._restart(clean=True)
        assert self.log.end_offset == end

    def read(self, where: float, max_bytes: int) -> None:
        start = int(where * self.log.end_offset)
        for header, data in read_all(self.log, start, max_bytes):
            assert self.appended[header.base_offset] == data

    def _restart(self, *, clean: bool) -> None:
        self.disk.free_bytes = None
        self.bench.cache.close_all()
        self.bench = Bench("/data", SMALL, self.disk)
        self.log = self.bench.open(clean=clean, recovery_point=self.safe)
        assert self.log.end_offset >= self.safe
        for header, data in read_all(self.log):
            assert self.appended[header.base_offset] == data
        self.appended = {at: kept for at, kept in self.appended.items() if at < self.log.end_offset}
        assert [header.base_offset for header, _ in read_all(self.log)] == sorted(self.appended)
        check_indexes(self.log)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32), STEPS)
def test_what_was_flushed_survives_anything(seed: int, steps: list[tuple[object, ...]]) -> None:
    model = Model(seed)
    for name, *arguments in steps:
        getattr(model, str(name))(*arguments)
    model.crash()
    check_indexes(model.log)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 40), st.data())
def test_a_flipped_bit_is_never_served_as_good(seed: int, count: int, data: st.DataObject) -> None:
    model = Model(seed)
    for _ in range(count + 1):
        model.append(2, 100)
    model.reopen()
    segment = data.draw(st.sampled_from([s for s in model.log.segments if s.size]))
    position = data.draw(st.integers(0, segment.size - 1))
    original = bytes(model.disk._file(segment.path).data)
    model.disk.flip(segment.path, position, data.draw(st.sampled_from([1, 2, 64, 128])))
    try:
        log = Bench("/data", SMALL, model.disk).open()
    except ApiError as error:
        # Where the last segment ends can no longer be told, so it is not opened, nor cut.
        assert error.code is ErrorCode.KAFKA_STORAGE_ERROR
        assert len(model.disk._file(segment.path).data) == len(original)
        return
    damaged = next(
        header
        for at, header in reversed(list(iter_batches(original, 0, len(original))))
        if at <= position
    )
    served: list[bytes] = []
    with suppress(ApiError, AssertionError):
        served.extend(found for _, found in read_all(log))
    # The base offset and the leader epoch lie outside of the checksum.
    originals = {data[16:] for data in model.appended.values()}
    assert all(found[16:] in originals for found in served)
    if position_is_checked(original, position):
        with pytest.raises(ApiError) as raised:
            log.read(damaged.base_offset, 100_000, log.end_offset)
        assert raised.value.code is ErrorCode.CORRUPT_MESSAGE


def position_is_checked(original: bytes, position: int) -> bool:
    at = max(start for start, _ in iter_batches(original, 0, len(original)) if start <= position)
    return position - at >= 16


def test_damage_before_the_recovery_point_is_kept_and_refused() -> None:
    model = Model(7)
    for _ in range(20):
        model.append(2, 100)
    model.flush()
    victim = model.log.segments[0].find(10)
    assert victim is not None
    model.disk.flip(model.log.segments[0].path, victim.position + 80)
    model.disk.crash()
    bench = Bench("/data", SMALL, model.disk)
    log = bench.open(clean=False, recovery_point=model.safe)
    assert log.end_offset == 40
    assert len(read_all_until(log, victim.base_offset)) == victim.base_offset // 2
    with pytest.raises(ApiError) as raised:
        log.read(victim.base_offset, 5000, log.end_offset)
    assert raised.value.code is ErrorCode.CORRUPT_MESSAGE
    assert read_all(log, victim.last_offset + 1)


def test_a_broken_chain_before_the_recovery_point_is_not_cut() -> None:
    model = Model(7)
    for _ in range(20):
        model.append(2, 100)
    model.flush()
    segment = model.log.segments[0]
    victim = segment.find(10)
    assert victim is not None
    model.disk.flip(segment.path, victim.position + 8, 0x40)
    model.disk.crash()
    with pytest.raises(ApiError) as raised:
        Bench("/data", SMALL, model.disk).open(clean=False, recovery_point=model.safe)
    assert raised.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert segment.path in str(raised.value)
    assert model.disk.stat(segment.path).st_size == segment.size


def read_all_until(log: Log, end: int) -> list[BatchHeader]:
    found: list[BatchHeader] = []
    offset = 0
    while offset < end:
        result = log.read(offset, 2000, end)
        data = result.slices[0].read()
        for _, header in iter_batches(data, 0, len(data)):
            found.append(header)
            offset = header.next_offset
    return found


def test_a_full_disk_is_retriable_and_heals() -> None:
    model = Model(1)
    model.append(1, 100)
    model.fill(50)
    with pytest.raises(ApiError) as raised:
        model.log.append(batch(1, size=500), 0, model.clock)
    assert raised.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert "no space left" in str(raised.value)
    assert len(read_all(model.log)) == 1
    assert model.disk.stat(model.log.active.path).st_size == model.log.active.size
    model.disk.free_bytes = None
    model.append(1, 500)
    assert [header.base_offset for header, _ in read_all(model.log)] == [0, 1]


def test_a_failed_sync_moves_no_recovery_point() -> None:
    model = Model(1)
    failures: list[StorageError] = []
    model.log.on_failure = failures.append
    model.append(1, 100)
    model.disk.sync_errno = errno.EIO
    with pytest.raises(StorageError):
        model.log.flush()
    assert model.log.recovery_point == 0
    assert len(failures) == 1


def test_a_failed_write_is_no_full_disk() -> None:
    model = Model(1)
    model.append(1, 100)
    model.disk.write_errno = errno.EIO
    with pytest.raises(StorageError):
        model.log.append(batch(1), 0, model.clock)


def test_a_failed_read_is_a_storage_error() -> None:
    model = Model(1)
    for _ in range(5):
        model.append(1, 100)
    model.disk.read_errno = errno.EIO
    with pytest.raises(StorageError):
        model.log.read(0, 1000, 5)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 60))
def test_times_are_found_after_a_crash(seed: int, count: int) -> None:
    model = Model(seed)
    for _ in range(count):
        model.append(2, 60)
    model.flush()
    model.crash()
    newest = max_timestamp_offset(model.log)
    assert newest is not None
    assert newest.offset == model.log.end_offset - 1
    for header, _ in read_all(model.log):
        found = offset_for_timestamp(model.log, header.base_timestamp)
        assert found is not None
        assert found[:2] == (header.base_offset, header.base_timestamp)
