"""Spark's classes, loaded from an archive that an earlier run left: a third less CPU to start.

The first run with a class path writes down, as its JVM ends, the classes that it loaded; later
ones map them. An archive that does not fit is ignored by Java, so none of this can do harm beyond
the disk space. Only local masters have it: the JVM of this machine is the one that matters there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

# While one process records, others need not; one that has not ended by then is forgotten.
CLAIM_SECONDS = 600.0
# Of a process that has ended, its JVM may be writing the archive for so long.
WRITE_SECONDS = 120.0
# Java's default. Who says it by name uses the archive that is there, and records none: a process
# that runs for long would keep all others from it until it ends.
_USE_ONLY = "-Xshare:auto"
# Options for the JVM that Spark takes from the environment.
_OPTIONS = "SPARK_SUBMIT_OPTS"
# Directories that Spark puts on the class path when these are set; Java archives jars only.
_CONFLICTS = ("HADOOP_CONF_DIR", "SPARK_CONF_DIR", "SPARK_DIST_CLASSPATH", "YARN_CONF_DIR")
# Java says a line for each class that it could not archive, and on a version change of its own.
_SILENT = "-Xlog:disable"


def archive_options(
    folder: Path, java: str, class_path: Sequence[Path], given: str, environment: Mapping[str, str]
) -> list[str]:
    """JVM options that use the archive for this Java and class path, or record one."""
    given = f"{given} {environment.get(_OPTIONS, '')}"
    if re.search(r"SharedArchiveFile|ArchiveClassesAtExit|-Xshare:(off|on)", given):
        return []
    if any(environment.get(name) for name in _CONFLICTS):
        return []
    try:
        key = _key([Path(java).resolve(), *class_path])
        return _options(folder, key, may_record=_USE_ONLY not in given)
    except OSError:
        return []


def _options(folder: Path, key: str, *, may_record: bool) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"{key}.jsa"
    _promote(folder, key, archive)
    if archive.exists():
        return [f"-XX:SharedArchiveFile={archive}", _SILENT]
    if may_record and _claim(folder / f"{key}.claim"):
        return [f"-XX:ArchiveClassesAtExit={folder / f'{key}.{os.getpid()}.new'}", _SILENT]
    return []


def _key(files: Sequence[Path]) -> str:
    """Java compares names, sizes and times of the jars; what differs there gets its own archive."""
    seen = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:16]


def _promote(folder: Path, key: str, archive: Path) -> None:
    # Java writes the header last: a file that begins with zeros is not finished, or never will be.
    for recorded in folder.glob(f"{key}.*.new"):
        with contextlib.suppress(OSError):
            with open(recorded, "rb") as file:
                whole = any(file.read(4))
            if whole:
                recorded.replace(archive)
            elif _age_seconds(recorded) > CLAIM_SECONDS:
                recorded.unlink()


def _claim(claim: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        age = _age_seconds(claim)
        if age > CLAIM_SECONDS or (age > WRITE_SECONDS and _has_ended(claim.read_text())):
            claim.unlink()
    try:
        with open(claim, "x") as file:
            file.write(str(os.getpid()))
    except FileExistsError:
        return False
    return True


def _has_ended(process: str) -> bool:
    """Of a recorder that was killed nothing will come."""
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (ValueError, OSError):
        return False
    return False


def _age_seconds(path: Path) -> float:
    return time.time() - path.stat().st_mtime
