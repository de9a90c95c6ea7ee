"""The Java that Spark would take: the one of JAVA_HOME first, and new enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.pipelines.error import SetupError
from penstock.pipelines.java import require_java


@pytest.fixture(autouse=True)
def _nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def install(folder: Path, says: str) -> Path:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True, exist_ok=True)
    java.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    java.chmod(0o755)
    return java


@pytest.mark.parametrize("version", ["17", "17.0.15", "21.0.2", "25-ea"])
def test_new_enough(tmp_path: Path, version: str) -> None:
    java = install(tmp_path, f'openjdk version "{version}" 2025-04-15')
    assert require_java() == str(java)


@pytest.mark.parametrize(("version", "major"), [("11.0.2", "11"), ("1.8.0_402", "8")])
def test_too_old(tmp_path: Path, version: str, major: str) -> None:
    install(tmp_path, f'openjdk version "{version}"')
    with pytest.raises(SetupError, match=f"Java {major} .* too old for Spark: install Java 17"):
        require_java()


def test_none() -> None:
    with pytest.raises(SetupError, match="no Java found: install Java 17 or newer"):
        require_java()


def test_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, 'openjdk version "17"')
    home = install(tmp_path / "home", 'openjdk version "21"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert require_java() == str(home)


def test_home_without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, 'openjdk version "17"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(SetupError, match=r"JAVA_HOME is .*nowhere, which holds no bin/java"):
        require_java()


def test_broken(tmp_path: Path) -> None:
    install(tmp_path, "cannot open shared object file")
    with pytest.raises(SetupError, match=r"does not work \(cannot open shared object file\)"):
        require_java()
