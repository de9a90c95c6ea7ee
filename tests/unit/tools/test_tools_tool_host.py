"""A tool in the shared process says and returns what it does in one of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tools.apache_kafka import run_tool
from tools.tool_host import ToolHost

pytestmark = pytest.mark.java


@pytest.fixture(scope="module")
def host() -> Iterator[ToolHost]:
    host = ToolHost()
    yield host
    host.close()


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("kafka-topics", ["--version"]),
        ("kafka-topics", ["--bogus"]),
        ("kafka-dump-log", ["--files", "00000000000000000000.log"]),
        ("kafka-storage", ["random-uuid", "bogus"]),
    ],
)
def test_it_is_as_in_a_process_of_its_own(host: ToolHost, tool: str, args: list[str]) -> None:
    alone = run_tool(tool, args)
    for hosted in (host.run(tool, args), host.run(tool, args)):
        assert hosted.returncode == alone.returncode
        assert hosted.stdout == alone.stdout
        # A stack trace ends where the process begins.
        assert hosted.stderr.splitlines()[:1] == alone.stderr.splitlines()[:1]


def test_it_starts_anew_when_it_was_closed(host: ToolHost) -> None:
    before = host.run("kafka-topics", ["--version"])
    host.close()
    after = host.run("kafka-topics", ["--version"])
    assert (before.returncode, before.stdout) == (after.returncode, after.stdout)
