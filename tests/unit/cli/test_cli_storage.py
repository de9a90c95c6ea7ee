"""`penstock storage` as it is typed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Command


@pytest.fixture
def settings(tmp_path: Path) -> str:
    path = tmp_path / "server.properties"
    path.write_text(
        "process.roles=broker,controller\nnode.id=4\ncontroller.listener.names=CONTROLLER\n"
        "controller.quorum.bootstrap.servers=localhost:9093\n"
        f"listeners=PLAINTEXT://:9092,CONTROLLER://:9093\nlog.dirs={tmp_path}/data\n"
    )
    return str(path)


def test_an_id(nowhere: Command) -> None:
    (made,) = nowhere.run("storage", "random-uuid").lines
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{21}", made)
    assert nowhere.run("storage", "random-uuid").lines != [made]


def test_format_and_info(nowhere: Command, settings: str, tmp_path: Path) -> None:
    answer = nowhere.try_run("storage", "info", "-c", settings)
    assert (answer.code, answer.err) == (1, "")
    assert answer.lines == ["Found problem:", f"  {tmp_path}/data does not exist", ""]
    made = nowhere.run("storage", "format", "-c", settings, "-t", "some-cluster", "--standalone")
    assert made.lines[0].startswith("Features: metadata.version=30, ")
    (line,) = made.lines[1:]
    assert line.startswith(f"Formatting dynamic metadata voter directory {tmp_path}/data with ")
    found = nowhere.run("storage", "info", "-c", settings).lines
    assert found[:3] == ["Found log directory:", f"  {tmp_path}/data", ""]
    assert found[3].startswith("Found metadata: {cluster.id=some-cluster, directory.id=")
    again = ("storage", "format", "-c", settings, "-t", "some-cluster", "--standalone")
    assert "is already formatted" in nowhere.fail(*again)
    assert nowhere.run(*again, "-g").lines == ["All of the log directories are already formatted."]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-s", "--add-scram", "SCRAM-SHA-1=[name=a,password=b]"], "mechanism SCRAM-SHA-1 is not"),
        (["-s", "--add-scram", "SCRAM-SHA-256=name=a"], "--add-scram: expected the"),
        (["-s", "--add-scram", "SCRAM-SHA-256=[name=a]"], "one of 'password' or"),
        (["-s", "--add-scram", "SCRAM-SHA-256=[name=a,password=b,iterations=9]"], ">= 4096"),
        ([], "you must specify one of the following: --standalone"),
        (["-s", "-N"], "give only one of"),
        (["-I", "nonsense"], "--initial-controllers nonsense: expected"),
        (["-N", "-f", "x=1"], "there is no such feature"),
        (["-N", "-r", "9.9"], "--release-version 9.9: known here are"),
        (["-N", "-t", "no id"], "`penstock storage random-uuid` makes one"),
        (["-N", "-c", "/nowhere"], "/nowhere: cannot read the configuration file"),
    ],
)
def test_what_is_refused(
    nowhere: Command, settings: str, tmp_path: Path, options: list[str], said: str
) -> None:
    given = ("storage", "format", "-c", settings, "-t", "some-cluster", *options)
    assert said in nowhere.fail(*given)
    assert not (tmp_path / "data").exists()


def test_settings_that_no_node_can_have(nowhere: Command, settings: str) -> None:
    with open(settings, "a") as file:
        file.write("process.roles=broker\n")
    assert "remove it from listeners" in nowhere.fail("storage", "info", "-c", settings)


def test_a_file_where_a_directory_should_be(
    nowhere: Command, settings: str, tmp_path: Path
) -> None:
    (tmp_path / "data").write_text("mine")
    said = nowhere.fail("storage", "format", "-c", settings, "-t", "c", "-s")
    assert said.startswith(f"{tmp_path}/data is not a directory; ")
    assert (tmp_path / "data").read_text() == "mine"


def test_what_has_to_be_given(nowhere: Command, settings: str) -> None:
    assert "--cluster-id" in nowhere.fail("storage", "format", "-c", settings, code=2)
    assert "--config" in nowhere.fail("storage", "info", code=2)
