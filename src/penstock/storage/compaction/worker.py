"""The child process that compacts one log: `python -m penstock.storage.compaction.worker`.

The job comes as one line on standard input, the progress goes out as lines on standard output.
It lives as long as its input stays open, so that it never outlives the broker, and ends when the
job is done, so that an idle broker pays nothing for it.
"""

from __future__ import annotations

import os
import sys
from threading import Thread

from penstock.model.error import ApiError
from penstock.storage.compaction.job import (
    CompactionFailed,
    CompactionJob,
    Progress,
    encode_progress,
)
from penstock.storage.compaction.run import Compaction
from penstock.storage.disk import RealDisk

NICENESS = 10
"""The broker's threads come first; compaction takes what is left."""


def main() -> None:
    os.nice(NICENESS)
    job = CompactionJob.decode(sys.stdin.readline())
    Thread(target=_end_with_input, daemon=True).start()
    try:
        for progress in Compaction(job, RealDisk()).run():
            _tell(progress)
    except OSError as error:
        _tell(CompactionFailed(str(error), error.errno or 0))
    except ApiError as error:
        _tell(CompactionFailed(str(error), 0))
    except Exception as error:
        _tell(CompactionFailed(f"{type(error).__name__}: {error}", 0))


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(1)


def _tell(progress: Progress) -> None:
    sys.stdout.write(encode_progress(progress) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
