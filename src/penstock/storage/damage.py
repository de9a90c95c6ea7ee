"""What is wrong with one file, as opposed to the disk under it.

Says which errors of the operating system are about a name alone, reads small files no further
than they can sensibly reach, and moves what cannot be used out of the way. A log that cannot be
used is `DamagedLog`: its partition answers KAFKA_STORAGE_ERROR, and everybody else is served.
Never decides what becomes of the data.
"""

from __future__ import annotations

import errno

from penstock.model.error import ApiError, ErrorCode
from penstock.storage.disk import Disk, read_whole

_OF_A_NAME = frozenset(
    {
        errno.EACCES,
        errno.EEXIST,
        errno.EFBIG,
        errno.EINVAL,
        errno.EISDIR,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.ENOENT,
        errno.ENOTDIR,
        errno.ENOTEMPTY,
        errno.ENXIO,
        errno.EPERM,
        errno.ESPIPE,
    }
)
"""A directory, a pipe or a loop of links in place of a file, rights that somebody took away. The
disk has answered as it should: EIO, EROFS and the like are not among these."""

ASIDE = ".damaged"


class DamagedLog(ApiError):
    """This log cannot be used; the others of its directory can."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.KAFKA_STORAGE_ERROR, message)


class DamagedFile(Exception):
    """A small file that does not hold what its name promises; its reader knows what to do."""


class IndexDamage(OSError):
    """An index leads to where its batch is not, or cannot be read at all. An OSError, so that
    where it cannot be mended it counts as any other file that cannot be used."""


def is_of_one_file(error: OSError) -> bool:
    return error.errno in _OF_A_NAME or isinstance(error, IndexDamage)


def read_small(disk: Disk, path: str) -> bytes:
    """The whole file; DamagedFile if it is there and cannot be read, or is absurdly large."""
    try:
        return read_whole(disk, path)
    except OSError as error:
        if not is_of_one_file(error) or error.errno == errno.ENOENT:
            raise
        raise DamagedFile(f"{path}: {error.strerror}") from error


def put_aside(disk: Disk, path: str) -> str:
    """Out of the way of what is written anew, and kept for whoever wants to look at it."""
    target = path + ASIDE
    try:
        disk.rename(path, target)
    except OSError as error:
        if not is_of_one_file(error):
            raise
        # Something stands there already, from the last time, and is not of the same kind.
        number = 1
        while disk.exists(f"{target}{number}"):
            number += 1
        target = f"{target}{number}"
        disk.rename(path, target)
    return target
