"""Maven and Ivy: told exactly what to bring, and heard out in one line when they fail."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from penstock.pipelines import fetch as fetch_module
from penstock.pipelines import jar as jar_module
from penstock.pipelines.error import SetupError
from penstock.pipelines.fetch import explain, fetch_with_ivy, fetch_with_maven
from penstock.pipelines.progress_line import ProgressLine
from penstock.pipelines.version import KAFKA

PROGRAM = """#!{python}
import pathlib, sys
pathlib.Path({log!r}).write_text("\\n".join(sys.argv[1:]))
print({says!r})
sys.exit({code})
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch" / "jars"
    folder.mkdir(parents=True)
    return folder


def pretend(tmp_path: Path, name: str, says: str = "", code: int = 0) -> Path:
    """A program that notes its arguments, says this and ends like this."""
    program, log = tmp_path / "bin" / name, tmp_path / "arguments"
    program.parent.mkdir(exist_ok=True)
    text = PROGRAM.format(python=sys.executable, log=str(log), says=says, code=code)
    program.write_text(text)
    program.chmod(0o755)
    return program


def test_maven_gets_the_list_without_anything_else(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maven = pretend(tmp_path, "mvn")
    monkeypatch.setenv("PATH", str(maven.parent))
    fetch_with_maven(KAFKA, folder, ProgressLine("x"))
    arguments = (tmp_path / "arguments").read_text().splitlines()
    assert f"-DoutputDirectory={folder}" in arguments
    pom = ElementTree.parse(arguments[arguments.index("-f") + 1])
    named = [[part.text for part in one][:3] for one in pom.iter("dependency")]
    assert named == [[jar.group, jar.artifact, jar.version] for jar in KAFKA.jars]
    assert len(list(pom.iter("exclusion"))) == len(KAFKA.jars)


def test_maven_failure_is_one_line(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = "[INFO] Scanning\n[ERROR] Failed to execute goal: unknown host\n[ERROR] more"
    monkeypatch.setenv("PATH", str(pretend(tmp_path, "mvn", says, 1).parent))
    with pytest.raises(SetupError) as caught:
        fetch_with_maven(KAFKA, folder, ProgressLine("x"))
    message = str(caught.value)
    assert message.startswith("Maven could not get the connectors (Failed to execute goal: unknown")
    assert "network" in message
    assert "\n" not in message


def test_ivy_asks_maven_central_alone(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = pretend(tmp_path, "java")
    monkeypatch.setattr(fetch_module, "require_java", lambda: str(java))
    fetch_with_ivy(KAFKA, folder, ProgressLine("x"))
    arguments = (tmp_path / "arguments").read_text().splitlines()
    settings = ElementTree.parse(arguments[arguments.index("-settings") + 1])
    resolvers = settings.find("resolvers")
    assert resolvers is not None
    assert [one.get("name") for one in resolvers] == ["central"]
    module = ElementTree.parse(arguments[arguments.index("-ivy") + 1])
    named = [(one.get("name"), one.get("transitive")) for one in module.iter("dependency")]
    assert named == [(jar.artifact, "false") for jar in KAFKA.jars]


def test_full_disk_is_told_apart() -> None:
    message = explain("Maven", "settings", ["[ERROR] x.jar: No space left on device"])
    assert message.startswith("Maven found no space left on the disk")


@pytest.mark.parametrize(("there", "chosen"), [(True, fetch_with_maven), (False, fetch_with_ivy)])
def test_maven_when_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool, chosen: object
) -> None:
    pretend(tmp_path, "mvn" if there else "other")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert jar_module._chosen_fetch() is chosen
