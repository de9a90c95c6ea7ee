"""A command of the operator's own, run for one node."""

from __future__ import annotations

import subprocess

from penstock.cli.failure import Failure


def run_for_node(command: str, node: int, host: str = "", port: int = 0) -> None:
    """Through the shell. Its output is ours; {id}, {host} and {port} stand for the node's."""
    filled = command
    for name, value in (("id", node), ("host", host), ("port", port)):
        filled = filled.replace(f"{{{name}}}", str(value))
    code = subprocess.run(filled, shell=True, check=False).returncode
    if code:
        raise Failure(f"`{filled}` ended with code {code}; nothing more was done")
