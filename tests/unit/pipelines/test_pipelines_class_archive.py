"""The class archive: recorded by one, used by those after it, and never in the way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.pipelines.class_archive import CLAIM_SECONDS, WRITE_SECONDS, archive_options

HEADER = b"\xa8\xba\x0b\xf0"


class Place:
    """A cache folder, a Java and a jar, and what the next start is told."""

    def __init__(self, root: Path) -> None:
        self.folder, self.java, self.jar = root / "classes", root / "java", root / "a.jar"
        self.java.write_text("java")
        self.jar.write_text("jar")

    def options(self, given: str = "", **environment: str) -> list[str]:
        return archive_options(self.folder, str(self.java), [self.jar], given, environment)

    def recorded(self) -> Path:
        """Where the last start was told to leave its classes."""
        (claimed,) = self.folder.glob("*.claim")
        return self.folder / f"{claimed.stem}.{os.getpid()}.new"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_recorded_then_used(place: Place) -> None:
    assert place.options()[0] == f"-XX:ArchiveClassesAtExit={place.recorded()}"
    place.recorded().write_bytes(HEADER)
    archive = place.options()[0].removeprefix("-XX:SharedArchiveFile=")
    assert Path(archive).read_bytes() == HEADER
    assert not place.recorded().exists()


def test_one_records_at_a_time(place: Place) -> None:
    assert place.options() != []
    assert place.options() == []
    (claim,) = place.folder.glob("*.claim")
    long_ago = claim.stat().st_mtime - CLAIM_SECONDS - 1
    os.utime(claim, (long_ago, long_ago))
    assert place.options() != []


def test_a_recorder_that_was_killed_is_forgotten(place: Place) -> None:
    place.options()
    (claim,) = place.folder.glob("*.claim")
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    claim.write_text(str(ended.pid))
    assert place.options() == [], "its JVM may be writing"
    earlier = claim.stat().st_mtime - WRITE_SECONDS - 1
    os.utime(claim, (earlier, earlier))
    assert place.options() != []


def test_what_runs_for_long_records_nothing(place: Place) -> None:
    assert place.options("-Xshare:auto") == []
    assert place.options(SPARK_SUBMIT_OPTS="-Xshare:auto") == []
    assert place.options()[0].startswith("-XX:ArchiveClassesAtExit=")
    place.recorded().write_bytes(HEADER)
    assert place.options("-Xshare:auto")[0].startswith("-XX:SharedArchiveFile=")


def test_unfinished_recording_is_not_used(place: Place) -> None:
    place.options()
    recorded = place.recorded()
    recorded.write_bytes(bytes(4096))
    assert place.options() == []
    assert recorded.exists(), "its JVM may still be writing"
    long_ago = recorded.stat().st_mtime - CLAIM_SECONDS - 1
    os.utime(recorded, (long_ago, long_ago))
    place.options()
    assert not recorded.exists()


def test_changed_jar_gets_its_own_archive(place: Place) -> None:
    place.options()
    place.recorded().write_bytes(HEADER)
    assert place.options()[0].startswith("-XX:SharedArchiveFile=")
    place.jar.write_text("another jar")
    assert place.options()[0].startswith("-XX:ArchiveClassesAtExit=")


@pytest.mark.parametrize("given", ["-Xshare:off", "-XX:SharedArchiveFile=mine.jsa"])
def test_users_own_choice_stands(place: Place, given: str) -> None:
    assert place.options(given) == []
    assert not place.folder.exists()


def test_no_archive_where_java_could_not_use_it(place: Place, tmp_path: Path) -> None:
    assert place.options(HADOOP_CONF_DIR="somewhere") == []
    place.java.unlink()
    assert place.options() == []
