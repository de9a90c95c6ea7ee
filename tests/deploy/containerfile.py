"""Carries out a container file in sandboxes, as far as ours goes: a stage is a sandbox.

The base image is this machine with the Python that runs the tests.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

from tests.deploy.sandbox import PATH, Sandbox


def instructions(text: str) -> list[tuple[str, str]]:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    pairs = (line.split(None, 1) for line in joined.splitlines() if line.strip())
    return [(name, rest.strip()) for name, rest in pairs]


class Image:
    """The last stage, and what is said of the container."""

    def __init__(self, context: Path, file: Path, folder: Path) -> None:
        self.stages: dict[str, Sandbox] = {}
        self._context = context
        self._folder = folder
        self._name = "root"
        self._environment = {"PATH": PATH}
        self._said: dict[str, str] = {}
        self.ran: list[str] = []
        try:
            for name, rest in instructions(file.read_text()):
                getattr(self, f"_{name.lower()}", self._note)(name, rest)
        except BaseException:
            self.close()
            raise

    def _note(self, name: str, rest: str) -> None:
        self._said[name] = rest

    def _from(self, _: str, rest: str) -> None:
        name = rest.partition(" AS ")[2] or "last"
        self.sandbox = self.stages[name] = Sandbox(self._folder / name)
        self._name = "root"

    def _run(self, _: str, rest: str) -> None:
        self.ran.append(rest)
        self.sandbox.run(rest, self._name)

    def _copy(self, _: str, rest: str) -> None:
        *options, source, target = rest.split()
        if options:
            other = self.stages[options[0].removeprefix("--from=")]
            self.sandbox.copy_from(other, source, target)
        else:
            ignored = (self._context / ".dockerignore").read_text().split()
            self.sandbox.copy(self._context / source, target, ignored)

    def _user(self, _: str, rest: str) -> None:
        self._name = rest

    def _env(self, _: str, rest: str) -> None:
        name, _, value = rest.partition("=")
        self._environment[name] = re.sub(r"\$(\w+)", lambda m: self._environment[m[1]], value)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """As `docker run` would, on a network of its own."""
        given = list(arguments) or json.loads(self._said["CMD"])
        return self._begin([*json.loads(self._said["ENTRYPOINT"]), *given])

    def is_healthy(self) -> bool:
        command = json.loads(self._said["HEALTHCHECK"].partition("CMD")[2])
        health = self._begin(command)
        health.communicate()
        return health.returncode == 0

    def ask(self, command: str) -> str:
        asked = self._begin(shlex.split(command))
        out, err = asked.communicate(timeout=120)
        assert asked.returncode == 0, err
        return out

    def _begin(self, command: list[str]) -> subprocess.Popen[str]:
        words = self.sandbox.words(command, self._name, self._environment, apart=True)
        pipe = subprocess.PIPE
        return subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True
        )

    @property
    def stop_signal(self) -> str:
        return self._said["STOPSIGNAL"]

    def close(self) -> None:
        for each in self.stages.values():
            each.close()
