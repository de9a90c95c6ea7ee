"""What an error of the operating system means: a disk that is full, or one that is broken.

A full disk heals when space returns, so whoever wanted to write is told and may try again. Any
other error takes the directory offline.
"""

from __future__ import annotations

from errno import EDQUOT, ENOSPC

from penstock.model.error import ApiError, ErrorCode, StorageError


def is_full(error: OSError) -> bool:
    return error.errno in (ENOSPC, EDQUOT)


def failure_of(error: OSError, action: str, path: str) -> ApiError | StorageError:
    if is_full(error):
        return ApiError(
            ErrorCode.KAFKA_STORAGE_ERROR, f"no space left on the disk: cannot {action} {path}"
        )
    return StorageError(f"cannot {action} {path}: {error}")
