"""The data directories of a node, and the flushers over them, as its options name them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.model.clock import Clock
from penstock.node.options import NodeOptions
from penstock.storage.disk import Disk
from penstock.storage.file_cache import FileCache
from penstock.storage.flush.flusher import Flusher
from penstock.storage.log_dir import ConfigOf, LogDir, NewPool
from penstock.storage.log_dirs import LogDirs

if TYPE_CHECKING:
    from penstock.storage.flush.by_directory import DirectoryFlushers

FILES_MIN = 16


def new_log_dirs(
    options: NodeOptions,
    clock: Clock,
    config_of: ConfigOf,
    disk: Disk,
    files_max: int,
    new_pool: NewPool,
    new_unique: Callable[[], bytes],
) -> LogDirs:
    data = [each.rstrip("/") for each in options.data_dirs]
    metadata = data[0] if options.metadata_dir is None else options.metadata_dir.rstrip("/")
    paths = dict.fromkeys([*data, metadata])
    files = max(files_max // len(paths), FILES_MIN)
    made = {
        path: LogDir(
            path,
            clock,
            config_of,
            disk=disk,
            cache=FileCache(disk, files),
            new_pool=new_pool,
            new_unique=new_unique,
        )
        for path in paths
    }
    return LogDirs([made[each] for each in data], made[metadata])


def new_flusher(log_dirs: LogDirs, build: Callable[[], Flusher]) -> Flusher | DirectoryFlushers:
    if len(log_dirs.all) == 1:
        return build()
    from penstock.storage.flush.by_directory import DirectoryFlushers

    return DirectoryFlushers((each.path for each in log_dirs.all), build)
