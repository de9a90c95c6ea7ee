"""Runs the commands of a page of docs/ as a reader would type them, on hosts that are folders here.

A block of shell that begins with `# on a, b and c` is run on each of these hosts, any other where
the reader sits. What is exported stays exported. `systemctl` is the test's to play.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tools.apache_kafka import TOOL_CLASSES

ROOT = Path(__file__).resolve().parents[1]
HERE = "here"
COMMAND_S = 300.0
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SCRIPT = """#!{python}
import sys
from tools.apache_kafka import run_tool
said = run_tool({name!r}, sys.argv[1:], timeout={timeout})
sys.stdout.write(said.stdout)
sys.stderr.write(said.stderr)
sys.exit(said.returncode)
"""
_PENSTOCK = '#!/bin/sh\nexec "{python}" -m penstock "$@"\n'


class CommandError(AssertionError):
    """A command of the page failed; the message has what it printed."""


class Block(NamedTuple):
    kind: str
    text: str


def sections(page: str) -> dict[str, list[Block]]:
    """What stands in fences, by the heading above it."""
    _, *parts = re.split(r"^##+ ", (ROOT / page).read_text(), flags=re.MULTILINE)
    return {
        part.partition("\n")[0]: [Block(*found) for found in _BLOCK.findall(part)] for part in parts
    }


class Reader:
    """`names`: what the page calls things, and what they are here; `names_on` a host, there.
    `service` is called with a host, a verb and a name for each `systemctl`."""

    def __init__(
        self,
        folder: Path,
        names: Mapping[str, str],
        service: Callable[[str, str, str], None],
        names_on: Callable[[str], Mapping[str, str]] = lambda host: {},
    ) -> None:
        self.names = dict(names)
        self.said: list[str] = []
        self._folder = folder
        self._service = service
        self._environment = _environment(folder / "bin")
        self._names_on = names_on

    def home(self, host: str) -> Path:
        """Where commands are run on a host."""
        folder = self._folder / host
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def here(self, text: str, host: str = HERE) -> str:
        """With the names of this machine."""
        names = self.names | dict(self._names_on(host))
        longest_first = sorted(names, key=len, reverse=True)
        pattern = "|".join(map(re.escape, longest_first))
        return re.sub(pattern, lambda found: names[found[0]], text) if pattern else text

    def run(self, block: Block) -> str:
        """All that it printed; a command that fails ends it."""
        assert block.kind == "sh", block
        hosts = re.match(r"# on (.+)\n", block.text)
        names = re.split(r", | and ", hosts[1]) if hosts else [HERE]
        said = "".join(self._run_on(name, block.text) for name in names)
        self.said.append(said)
        return said

    def _run_on(self, host: str, text: str) -> str:
        said, shell = [], ""
        for line in text.splitlines(keepends=True):
            if not line.startswith("systemctl "):
                shell += line
                continue
            said.append(self._shell(host, shell))
            shell = ""
            _, verb, name = shlex.split(line, comments=True)
            self._service(host, verb, name)
        return "".join([*said, self._shell(host, shell)])

    def _shell(self, host: str, text: str) -> str:
        if not re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).strip():
            return ""
        after = self._folder / "environment"
        script = f"{self.here(text, host)}\nenv -0 > {shlex.quote(str(after))}\n"
        answer = subprocess.run(
            ["sh", "-e", "-c", script],
            cwd=self.home(host),
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=COMMAND_S,
            check=False,
        )
        if answer.returncode:
            raise CommandError(f"on {host}:\n{text}\n{answer.stdout}")
        kept = (line.partition("=") for line in after.read_text().split("\0") if line)
        self._environment = {key: value for key, _, value in kept}
        return answer.stdout


def _environment(scripts: Path) -> dict[str, str]:
    """Kafka's scripts and ours in front of everything else."""
    scripts.mkdir(parents=True)
    for name in TOOL_CLASSES:
        text = _SCRIPT.format(python=sys.executable, name=name, timeout=COMMAND_S)
        _write(scripts / f"{name}.sh", text)
    _write(scripts / "penstock", _PENSTOCK.format(python=sys.executable))
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": path}


def _write(script: Path, text: str) -> None:
    script.write_text(text)
    script.chmod(0o755)
