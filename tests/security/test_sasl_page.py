"""docs/security.md: what it says of logins, done as it says it."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.testing.nursery import Order, shared_nursery
from penstock.testing.port import free_port

PAGE = Path(__file__).parents[2] / "docs" / "security.md"


def block(language: str) -> str:
    """The first of its kind in the part about logins."""
    part = PAGE.read_text().partition("## Logins (SASL)")[2]
    found = re.search(rf"```{language}\n(.*?)```", part, re.DOTALL)
    assert found is not None
    return found[1]


def placed(text: str, folder: Path, ports: dict[str, int]) -> str:
    for said, port in ports.items():
        text = text.replace(said, str(port))
    return text.replace("log.dirs=data", f"log.dirs={folder / 'data'}")


def test_from_nothing_to_a_user_who_logs_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    ports = {"9092": free_port(), "9093": free_port()}
    properties = placed(block("properties"), tmp_path, ports)
    (tmp_path / "server.properties").write_text(properties)
    commands = placed(block("sh"), tmp_path, ports).splitlines()
    assert [shlex.split(line)[1] for line in commands] == [
        "storage",
        "start",
        "profile",
        "--profile",
    ]
    run(commands[0])
    settings = dict(
        line.split("=", 1) for line in properties.splitlines() if line and line[0] != "#"
    )
    nursery = shared_nursery()
    child = nursery.spawn(Order(log=str(tmp_path / "log"), settings=settings))
    try:
        assert child.wait_ready(60), (tmp_path / "log").read_text()
        run(commands[2])
        assert "alice logs in" in run(commands[3], "of alice\n")
        assert "admin" in run("penstock --profile mine users list")
    finally:
        os.kill(child.pid, signal.SIGTERM)
        child.wait_exit(30)
        nursery.reap(child)


def run(line: str, stdin: str = "") -> str:
    words = shlex.split(line)
    assert words[0] == "penstock"
    done = subprocess.run(
        [sys.executable, "-m", "penstock.cli.main", *words[1:]],
        input=stdin,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
