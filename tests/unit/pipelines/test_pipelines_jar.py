"""The jar cache: whole or fetched again, safe among processes, one line when it fails."""

from __future__ import annotations

import errno
import hashlib
import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.pipelines import jar as jar_module
from penstock.pipelines.error import SetupError
from penstock.pipelines.jar import CACHE_VARIABLE, cache_dir, ensure_jars
from penstock.pipelines.progress_line import ProgressLine
from penstock.pipelines.version import DELTA, KAFKA, Jar, JarSet


def pinned(name: str) -> Jar:
    return Jar("org.example", name, "1.0", hashlib.sha256(name.encode()).hexdigest())


SET = JarSet("two-jars", "two jars", (pinned("left"), pinned("right")))


class Mirror:
    """A fetch that copies what it was told to, and remembers how often."""

    def __init__(self, **contents: str) -> None:
        self.calls = 0
        self._contents = {"left": "left", "right": "right"} | contents

    def __call__(self, jar_set: JarSet, folder: Path, progress: ProgressLine) -> None:
        self.calls += 1
        for jar in jar_set.jars:
            progress.show(jar.file_name)
            (folder / jar.file_name).write_text(self._contents[jar.artifact])


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "jars"))
    return tmp_path / "jars" / SET.name


def test_fetched_once(cache: Path) -> None:
    mirror = Mirror()
    jars = ensure_jars(SET, fetch=mirror)
    assert jars == [cache / "left-1.0.jar", cache / "right-1.0.jar"]
    assert [jar.read_text() for jar in jars] == ["left", "right"]
    assert ensure_jars(SET, fetch=mirror) == jars
    assert mirror.calls == 1


def test_whole_cache_runs_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    ensure_jars(SET, fetch=Mirror())
    monkeypatch.setattr(jar_module, "_chosen_fetch", lambda: pytest.fail("it asked for a program"))
    ensure_jars(SET)


@pytest.mark.parametrize("damage", [Path.unlink, lambda jar: jar.write_text("lef")])
def test_damaged_jar_is_fetched_again(cache: Path, damage: Callable[[Path], object]) -> None:
    jars = ensure_jars(SET, fetch=Mirror())
    untouched = jars[1].stat().st_ino
    damage(jars[0])
    again = Mirror()
    assert ensure_jars(SET, fetch=again)[0].read_text() == "left"
    assert again.calls == 1
    assert jars[1].stat().st_ino == untouched


def test_wrong_checksum_is_refused(cache: Path) -> None:
    with pytest.raises(SetupError, match=r"right-1\.0\.jar has arrived with a wrong checksum"):
        ensure_jars(SET, fetch=Mirror(right="something else"))
    assert not list(cache.glob("*.jar"))
    assert not list(cache.glob(".fetch-*")), "the scratch folder is gone"


def test_missing_jar_is_named() -> None:
    with pytest.raises(SetupError, match=r"left-1\.0\.jar did not arrive"):
        ensure_jars(SET, fetch=lambda jar_set, folder, progress: None)


def test_disk_full_says_what_to_do(cache: Path) -> None:
    def fetch(jar_set: JarSet, folder: Path, progress: ProgressLine) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(SetupError) as caught:
        ensure_jars(SET, fetch=fetch)
    message = str(caught.value)
    assert "No space left on device" in message
    assert CACHE_VARIABLE in message
    assert "\n" not in message


def test_unusable_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "file"))
    with pytest.raises(SetupError, match="cannot fill the jar cache"):
        ensure_jars(SET, fetch=Mirror())


def slow_fetch(jar_set: JarSet, folder: Path, progress: ProgressLine) -> None:
    with open(folder.parents[1] / "fetches", "a") as log:
        log.write("one\n")
    time.sleep(0.3)
    Mirror()(jar_set, folder, progress)


def ensure_slowly() -> None:
    ensure_jars(SET, fetch=slow_fetch)


def test_two_processes_fetch_once(cache: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    both = [spawn.Process(target=ensure_slowly) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join(60)
    assert [process.exitcode for process in both] == [0, 0]
    assert (cache / "fetches").read_text() == "one\n"


def test_progress_names_what_came(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ensure_jars(SET, fetch=Mirror())
    *lines, last = capsys.readouterr().err.splitlines()
    assert lines == [
        "penstock: getting two jars, once ...",
        f"penstock: they are kept in {cache}",
        "penstock: left-1.0.jar, 4 bytes",
        "penstock: right-1.0.jar, 5 bytes",
    ]
    assert "done in" in last
    ensure_jars(SET, fetch=Mirror())
    assert capsys.readouterr().err == ""


def test_cache_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_dir() == tmp_path / "penstock" / "jars"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_dir() == tmp_path / ".cache" / "penstock" / "jars"


def test_pinned_sets_name_each_jar_once() -> None:
    jars = [*KAFKA.jars, *DELTA.jars]
    assert len({jar.file_name for jar in jars}) == len({jar.sha256 for jar in jars}) == len(jars)
    assert all(len(bytes.fromhex(jar.sha256)) == 32 for jar in jars)
