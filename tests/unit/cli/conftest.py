"""The command as a user runs it: a process with arguments, input, output and an exit code."""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest

from tests.unit.cli.command_server import CommandServer
from tests.unit.cluster_target import TARGETS, bootstrap_servers

PENSTOCK = str(Path(sys.executable).with_name("penstock"))
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Answer:
    code: int
    out: bytes
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.decode().splitlines()

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Command:
    servers: str
    server: CommandServer

    def environment(self) -> dict[str, str]:
        # Whoever runs the tests may have profiles of their own.
        home = {"XDG_CONFIG_HOME": os.devnull}
        return os.environ | {"PENSTOCK_BOOTSTRAP_SERVERS": self.servers} | home

    def try_run(
        self, *arguments: str, stdin: bytes = b"", environment: Mapping[str, str] | None = None
    ) -> Answer:
        with TemporaryFile() as source, TemporaryFile() as out, TemporaryFile() as err:
            source.write(stdin)
            source.seek(0)
            files = [source.fileno(), out.fileno(), err.fileno()]
            code = self.server.run(arguments, self.environment() | (environment or {}), files)
            out.seek(0)
            err.seek(0)
            return Answer(code, out.read(), err.read().decode())

    def run(
        self, *arguments: str, stdin: bytes = b"", environment: Mapping[str, str] | None = None
    ) -> Answer:
        """A run that must succeed, and say nothing on stderr."""
        answer = self.try_run(*arguments, stdin=stdin, environment=environment)
        assert (answer.code, answer.err) == (0, "")
        return answer

    def fail(
        self,
        *arguments: str,
        code: int = 1,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """A run that must fail, with one line on stderr: the line."""
        answer = self.try_run(*arguments, stdin=stdin, environment=environment)
        assert answer.code == code, answer
        assert answer.err.startswith("penstock: ")
        assert answer.err.count("\n") == 1
        return answer.err.removeprefix("penstock: ").rstrip()


@pytest.fixture(scope="session")
def command_server() -> Iterator[CommandServer]:
    server = CommandServer()
    yield server
    server.close()


@pytest.fixture(params=TARGETS)
def command(request: pytest.FixtureRequest, command_server: CommandServer) -> Command:
    return Command(bootstrap_servers(request.param), command_server)


@pytest.fixture
def nowhere(command_server: CommandServer) -> Command:
    return Command("127.0.0.1:1", command_server)


@pytest.fixture
def topic() -> str:
    return f"topic-{os.getpid()}-{next(_numbers)}"
