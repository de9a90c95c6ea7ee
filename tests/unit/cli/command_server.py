"""Runs the command in forks of a process that has it loaded: a real process, without the wait.

A command spends most of its time importing libraries; these tests run hundreds. Only the modules
are shared: each run has its own process, descriptors, environment and exit code.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence


class CommandServer:
    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()]
            )
        self._conversation = ours

    def run(
        self, arguments: Sequence[str], environment: Mapping[str, str], descriptors: Sequence[int]
    ) -> int:
        """The exit code; `descriptors` are its stdin, stdout and stderr."""
        request = json.dumps([list(arguments), dict(environment)]).encode() + b"\n"
        socket.send_fds(self._conversation, [request], list(descriptors))
        return int.from_bytes(self._conversation.recv(4), "big", signed=True)

    def close(self) -> None:
        self._conversation.close()
        self._process.wait(10)


def serve(conversation: socket.socket) -> None:
    import confluent_kafka.admin  # noqa: F401
    import typer

    import penstock.cli.app
    import penstock.cli.catalog.sync
    import penstock.cli.key_sample
    import penstock.cli.log_dir
    import penstock.cli.operator.drain
    import penstock.cli.operator.election
    import penstock.cli.operator.roll_run
    import penstock.cli.reader
    import penstock.cli.sender
    import penstock.cli.topic
    import penstock.cli.topic_fault

    # What the first run would import besides.
    dict(typer.main.get_command(penstock.cli.app.app).commands)  # type: ignore[attr-defined]
    gc.freeze()
    while True:
        request, descriptors, _, _ = socket.recv_fds(conversation, 1 << 20, 3)
        if not request:
            return
        while not request.endswith(b"\n"):
            request += conversation.recv(1 << 20)
        pid = os.fork()
        if pid == 0:
            conversation.close()
            _become_command(*json.loads(request), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        conversation.sendall(code.to_bytes(4, "big", signed=True))


def _become_command(
    arguments: list[str], environment: dict[str, str], descriptors: list[int]
) -> None:
    from penstock.cli.main import main

    for target, descriptor in enumerate(descriptors):
        os.dup2(descriptor, target)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(environment)
    # As the installed script does, atexit functions and the last flush included.
    sys.exit(main(arguments))


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as own_end:
        serve(own_end)
