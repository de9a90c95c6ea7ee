"""Running a compaction job in a child process, as seen from the event loop.

Parsing records in a thread of the broker would take the interpreter lock away from every request
for milliseconds at a time; a process of its own takes a core that is free, and gives its memory
back when it ends. Blocking calls on the pipe wait in threads.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from errno import ECHILD
from pathlib import Path

import penstock
from penstock.storage.compaction.job import (
    CompactionDone,
    CompactionFailed,
    CompactionJob,
    Progress,
    decode_progress,
)

_MODULE = "penstock.storage.compaction.worker"


async def run_in_child(job: CompactionJob) -> AsyncGenerator[Progress, None]:
    """Ends with CompactionDone or CompactionFailed. Closing the iterator ends the child."""
    try:
        process = await asyncio.to_thread(_start, job)
    except OSError as error:
        yield CompactionFailed(f"cannot start a process: {error}", ECHILD)
        return
    try:
        assert process.stdout is not None
        while True:
            line = await asyncio.to_thread(process.stdout.readline)
            if not line:
                yield CompactionFailed("its process ended early", ECHILD)
                return
            progress = decode_progress(line)
            yield progress
            if isinstance(progress, CompactionDone | CompactionFailed):
                return
    finally:
        _end(process)


def _start(job: CompactionJob) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", _MODULE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=_environment(),
    )
    try:
        assert process.stdin is not None
        process.stdin.write(job.encode() + "\n")
        process.stdin.flush()
    except OSError:
        pass  # it has ended already, which reading from it will tell
    return process


def _environment() -> dict[str, str]:
    """The child finds this very package, however the broker came by it."""
    package = penstock.__file__ or ""
    paths = [str(Path(package).parent.parent), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                pass  # unsent input for a process that is gone
