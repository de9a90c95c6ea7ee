"""What an error of the operating system means: something has run out, or the disk is broken.

Space returns, and so do file descriptors: whoever wanted to write or open is told and may try
again. Any other error takes the directory offline.
"""

from __future__ import annotations

from errno import EDQUOT, EMFILE, ENFILE, ENOSPC
from time import sleep

from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.storage.disk import Disk

OUT_OF_SPACE = frozenset({ENOSPC, EDQUOT})
OUT_OF_FILES = frozenset({EMFILE, ENFILE})
RETRY_S = 0.05


def is_full(error: OSError) -> bool:
    """Whether it may pass by itself: the disk, or a table of open files, is full."""
    return error.errno in OUT_OF_SPACE or error.errno in OUT_OF_FILES


def is_out_of_files(error: OSError) -> bool:
    return error.errno in OUT_OF_FILES


def shortage(error: OSError) -> str:
    """What there is not enough of."""
    return "too many open files" if is_out_of_files(error) else "no space left on the disk"


def failure_of(error: OSError, action: str, path: str) -> ApiError | StorageError:
    if is_full(error):
        return ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"{shortage(error)}: cannot {action} {path}")
    return StorageError(f"cannot {action} {path}: {error}")


def sync_directory(disk: Disk, path: str) -> None:
    """Waits for a file descriptor as long as there is none; so not for the event loop."""
    while True:
        try:
            disk.fsync_dir(path)
        except OSError as error:
            if not is_out_of_files(error):
                raise
            sleep(RETRY_S)
        else:
            return
