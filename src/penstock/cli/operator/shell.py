"""A command of the operator's own, run for one node."""

from __future__ import annotations

import subprocess

from penstock.cli.failure import Failure


class NodeCommand:
    """Through the shell. Its output is ours; {id}, {host} and {port} stand for the node's."""

    def __init__(self, command: str, node: int, host: str, port: int) -> None:
        for name, value in (("id", node), ("host", host), ("port", port)):
            command = command.replace(f"{{{name}}}", str(value))
        self._text = command
        self._process = subprocess.Popen(command, shell=True)

    def has_ended(self) -> bool:
        """Whether it has; a failure is ours as well."""
        code = self._process.poll()
        if code:
            raise Failure(f"`{self._text}` ended with code {code}; nothing more was done")
        return code == 0

    def wait(self) -> None:
        self._process.wait()
        self.has_ended()
