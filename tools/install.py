"""`pip install`, with one line that says how far it is: for `make`, before anything is installed.

pip's own output is shown only when it fails. Standard library only.
"""

from __future__ import annotations

import queue
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import IO

from penstock.pipelines.progress_line import ProgressLine

_LOOK_S = 1.0
_STEPS = (
    (r"Collecting ([\w.-]+)", "looking for {}"),
    (r"Downloading (\S+?)(?:\.metadata)? \((.+)\)", "downloading {} ({})"),
    (r"Using cached (\S+?)(?:\.metadata)? \((.+)\)", "cached {} ({})"),
    (r"Building wheel for ([\w.-]+)", "building {}"),
    (r"Installing collected packages: (.+)", "installing {}"),
)


def main(arguments: Sequence[str]) -> int:
    where, *options = arguments
    quiet = ["--disable-pip-version-check", "--progress-bar", "off", "--no-color"]
    command = [sys.executable, "-m", "pip", "install", *quiet, *options]
    said: list[str] = []
    try:
        with ProgressLine(f"setting up {where}", out=sys.stdout) as progress:
            _run(command, said, progress)
    except subprocess.CalledProcessError as failure:
        sys.stderr.writelines(said)
        return failure.returncode
    return 0


def _run(command: Sequence[str], said: list[str], progress: ProgressLine) -> None:
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        assert pip.stdout is not None
        doing = "starting pip"
        for line in _lines(pip.stdout):
            if line is not None:
                said.append(line)
                doing = step(line) or doing
            progress.show(doing)
    if pip.returncode != 0:
        raise subprocess.CalledProcessError(pip.returncode, command)


def step(line: str) -> str | None:
    """What a line of pip's tells a person; None where that is nothing new."""
    for pattern, text in _STEPS:
        found = re.match(pattern, line.strip())
        if found is not None:
            packages = found.group(1).split(", ")
            first = f"{len(packages)} packages" if len(packages) > 1 else packages[0]
            return text.format(first, *found.groups()[1:])
    return None


def _lines(stream: IO[str]) -> Iterator[str | None]:
    """Lines as they come; None for each second without one."""
    arrived: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        for line in stream:
            arrived.put(line)
        arrived.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = arrived.get(timeout=_LOOK_S)
        except queue.Empty:
            yield None
            continue
        if line is None:
            return
        yield line


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
