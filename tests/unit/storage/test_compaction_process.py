"""Compaction in its child process, driven by an event loop, on a real disk."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest

from penstock.storage.checkpoint.file import read_offsets
from penstock.storage.compaction import process as compaction_process
from penstock.storage.compaction.cleaner import Cleaner
from penstock.storage.compaction.config import CleanerSettings
from penstock.storage.compaction.job import CleanedGroup, CompactionJob, Progress
from penstock.storage.compaction.pick import weigh
from penstock.storage.compaction.round import describe
from penstock.storage.names import CLEANER_OFFSETS
from penstock.storage.trim import delete_log, truncate_to
from tests.unit.storage.compaction_kit import TP, CleanBench, CompactSettings


def filled(root: str, count: int = 300) -> CleanBench:
    bench = CleanBench(root, CompactSettings(segment_bytes=4000))
    for number in range(count):
        bench.put((b"k%d" % (number % 50), b"%d" % number * 20), codec=number % 5)
    bench.roll()
    bench.log.flush()
    return bench


def job_of(bench: CleanBench, **settings: float) -> CompactionJob:
    candidate = weigh(bench.log, 0, bench.clock.now_ms())
    return describe(candidate, CleanerSettings(**settings), bench.clock.now_ms(), 0).job  # type: ignore[arg-type]


def test_a_child_does_what_this_process_would(tmp_path: Path) -> None:
    here, there = filled(f"{tmp_path}/here"), filled(f"{tmp_path}/there")
    expected = here.clean()
    report = asyncio.run(there.cleaner.clean_next())
    assert report is not None
    assert report.stats == expected.stats
    assert report.segments_written == expected.segments_written > 1
    assert there.rows() == here.rows()
    assert len(there.rows()) == 50
    assert [s.size for s in there.log.segments] == [s.size for s in here.log.segments]
    assert there.cleaner.offsets.snapshot() == {TP: 300}
    assert asyncio.run(there.cleaner.clean_next()) is None


def test_a_deleted_log_is_forgotten_for_good(tmp_path: Path) -> None:
    bench = filled(str(tmp_path))
    assert asyncio.run(bench.cleaner.clean_next()) is not None
    delete_log(bench.log, bytes(16))
    assert asyncio.run(bench.cleaner.clean_next()) is None
    assert bench.cleaner.offsets.snapshot() == {}
    assert read_offsets(bench.disk, f"{tmp_path}/{CLEANER_OFFSETS}") == {}


def test_appends_and_reads_go_on_meanwhile(tmp_path: Path) -> None:
    bench = filled(str(tmp_path))

    async def both() -> int:
        task = asyncio.create_task(bench.cleaner.clean_next())
        count = 0
        while not task.done():
            bench.put((b"later-%d" % count, b"x"))
            assert bench.rows()[-1][1] == b"later-%d" % count
            count += 1
            await asyncio.sleep(0.001)
        assert await task is not None
        return count

    count = asyncio.run(both())
    rows = bench.rows()
    assert len(rows) == 50 + count
    bench.reopen(clean=False)
    assert bench.rows() == rows


def test_a_log_that_is_cut_meanwhile_keeps_its_own(tmp_path: Path) -> None:
    bench = filled(str(tmp_path))

    async def cutting(job: CompactionJob) -> AsyncGenerator[Progress, None]:
        async with aclosing(compaction_process.run_in_child(job)) as steps:
            async for progress in steps:
                if isinstance(progress, CleanedGroup):
                    truncate_to(bench.log, 10)
                yield progress

    cleaner = Cleaner(bench.disk, str(tmp_path), lambda: [bench.log], bench.clock, runner=cutting)
    assert asyncio.run(cleaner.clean_next()) is None
    assert len(bench.rows()) == 10
    assert not list(Path(bench.directory).glob("*.cleaned"))
    assert not cleaner.uncleanable


def test_a_child_that_is_killed_leaves_the_log_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = filled(str(tmp_path))
    before = bench.rows()
    started: list[subprocess.Popen[str]] = []

    def start(job: CompactionJob) -> subprocess.Popen[str]:
        process = original(job)
        started.append(process)
        process.send_signal(signal.SIGKILL)
        return process

    original = compaction_process._start
    monkeypatch.setattr(compaction_process, "_start", start)
    assert asyncio.run(bench.cleaner.clean_next()) is None
    assert bench.rows() == before
    assert not bench.cleaner.uncleanable
    assert started[0].returncode == -signal.SIGKILL
    assert not list(Path(bench.directory).glob("*.cleaned"))


def test_cancelling_ends_the_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = filled(str(tmp_path))
    slow = Cleaner(
        bench.disk,
        str(tmp_path),
        lambda: [bench.log],
        bench.clock,
        lambda: CleanerSettings(io_bytes_per_second=1000),
    )
    started: list[subprocess.Popen[str]] = []
    original = compaction_process._start

    def start(job: CompactionJob) -> subprocess.Popen[str]:
        started.append(original(job))
        return started[-1]

    monkeypatch.setattr(compaction_process, "_start", start)

    async def cancelled() -> None:
        task = asyncio.create_task(slow.clean_next())
        await asyncio.sleep(0.4)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert started[0].returncode is not None


def test_a_child_does_not_outlive_its_broker(tmp_path: Path) -> None:
    bench = filled(str(tmp_path))
    process = compaction_process._start(job_of(bench, io_bytes_per_second=1000))
    assert process.stdin is not None and process.stdout is not None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    process.stdin.close()  # as the kernel does when the broker dies
    assert process.wait(10) != 0
    process.stdout.close()
    bench.reopen(clean=False)
    assert not list(Path(bench.directory).glob("*.cleaned"))
    assert len(bench.rows()) == 300


def test_a_child_that_cannot_be_started_is_no_broken_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = filled(str(tmp_path))
    monkeypatch.setattr(sys, "executable", f"{tmp_path}/no-such-python")
    assert asyncio.run(bench.cleaner.clean_next()) is None
    assert not bench.cleaner.uncleanable


def test_the_modified_time_of_the_newest_source_is_kept(tmp_path: Path) -> None:
    bench = CleanBench(str(tmp_path))
    for _ in range(2):
        bench.put((b"a", b"1"))
        bench.roll()
    os.utime(bench.log.segments[1].path, ns=(5_000_000_000, 5_000_000_000))
    bench.clean()
    assert bench.log.segments[0].modified_ms() == 5000
