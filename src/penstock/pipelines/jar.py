"""The connector jars: fetched once into a cache, checked by checksum at every start.

Maven fetches them when it is there, so that the user's own mirrors and proxies count; otherwise
Spark's own copy of Ivy does, from Maven Central. A whole cache is used as it is: no program runs
and no network is asked. Nothing here knows sessions.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from penstock.pipelines.error import SetupError
from penstock.pipelines.fetch import fetch_with_ivy, fetch_with_maven
from penstock.pipelines.progress_line import ProgressLine
from penstock.pipelines.version import Jar, JarSet

CACHE_VARIABLE = "PENSTOCK_JAR_CACHE"

Fetch = Callable[[JarSet, Path, ProgressLine], None]


def cache_dir() -> Path:
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "penstock", "jars")


def ensure_jars(jar_set: JarSet, *, fetch: Fetch | None = None) -> list[Path]:
    """The set's jars on this disk, whole; whoever comes first fetches what is missing."""
    folder = cache_dir() / jar_set.name
    if bad_jars(jar_set, folder):
        try:
            with _locked(folder):
                bad = bad_jars(jar_set, folder)
                if bad:
                    _replace(jar_set, bad, folder, fetch or _chosen_fetch())
        except OSError as error:
            why = error.strerror or str(error)
            raise SetupError(
                f"cannot fill the jar cache {folder} ({why}): make room or rights there,"
                f" or set {CACHE_VARIABLE} to another folder"
            ) from error
    return [folder / jar.file_name for jar in jar_set.jars]


def bad_jars(jar_set: JarSet, folder: Path) -> list[Jar]:
    """The jars of the set that this folder does not hold as pinned."""
    return [jar for jar in jar_set.jars if _sha256(folder / jar.file_name) != jar.sha256]


def _sha256(path: Path) -> str | None:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _chosen_fetch() -> Fetch:
    return fetch_with_maven if shutil.which("mvn") else fetch_with_ivy


def _replace(jar_set: JarSet, bad: list[Jar], folder: Path, fetch: Fetch) -> None:
    # Beside the jars, so that a rename moves each one: a reader never sees half a jar, and a JVM
    # that has the old file open keeps it.
    with (
        tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as scratch,
        ProgressLine(f"getting {jar_set.title}, once") as progress,
    ):
        progress.note(f"they are kept in {folder}")
        fetched = Path(scratch, "jars")
        fetched.mkdir()
        fetch(jar_set, fetched, progress)
        _check(jar_set, fetched)
        for jar in bad:
            progress.note(f"{jar.file_name}, {(fetched / jar.file_name).stat().st_size:,} bytes")
            (fetched / jar.file_name).replace(folder / jar.file_name)


def _check(jar_set: JarSet, fetched: Path) -> None:
    for jar in bad_jars(jar_set, fetched):
        if not (fetched / jar.file_name).exists():
            raise SetupError(f"{jar.file_name} did not arrive: try again")
        raise SetupError(
            f"{jar.file_name} has arrived with a wrong checksum: remove it from the local Maven"
            " repository or the mirror that served it, and try again"
        )
