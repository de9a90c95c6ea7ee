"""More connections than there are file descriptors for."""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from penstock.protocol.messages.api_versions import ApiVersionsRequest
from penstock.testing.broker import Broker
from tests.hostile.target import Target
from tests.node.wire_kit import Wire
from tests.target import target_name

DESCRIPTORS = 256
CROWD = 600


class FewDescriptors(Broker):
    """A broker like any other, started by itself with few file descriptors to have."""

    def __init__(self, data_dir: Path, hard: int, soft: int) -> None:
        super().__init__(data_dir)
        self._limits = (soft, hard)
        self._process: subprocess.Popen[bytes] | None = None
        self._ready: dict[str, str] = {}

    @property
    def bootstrap_servers(self) -> str:
        return self._ready["listen"]

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        assert self._process is not None
        return self._process.poll()

    @contextmanager
    def started(self) -> Iterator[FewDescriptors]:
        command = [sys.executable, "-m", "penstock", "start", "--listen", "127.0.0.1:0"]
        command += ["--data-dir", str(self.data_dir)]
        command += ["--set", "log.flush.offset.checkpoint.interval.ms=200"]
        reading, writing = os.pipe()
        with self.log_file.open("wb") as log:
            self._process = subprocess.Popen(
                [*command, "--ready-fd", str(writing)],
                stdout=log,
                stderr=log,
                pass_fds=(writing,),
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, self._limits),
            )
        os.close(writing)
        try:
            with os.fdopen(reading) as ready:
                self._ready = json.loads(ready.readline())
            yield self
        finally:
            self._process.terminate()
            self._process.wait(30)


@pytest.fixture
def few(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[FewDescriptors]:
    if target_name(request.config) == "kafka":
        pytest.skip("of Apache Kafka the limit is not lowered")
    with FewDescriptors(tmp_path / "data", DESCRIPTORS, DESCRIPTORS // 2).started() as broker:
        yield broker


def open_descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def test_the_soft_limit_is_raised(few: FewDescriptors) -> None:
    limits = Path(f"/proc/{few.pid}/limits").read_text().splitlines()
    (line,) = [one for one in limits if one.startswith("Max open files")]
    assert line.split()[3:5] == [str(DESCRIPTORS)] * 2


def test_a_crowd_of_connections(few: FewDescriptors, request: pytest.FixtureRequest) -> None:
    def note(row: dict[str, object]) -> None:
        request.node.user_properties.append(("hostile", row))

    target = Target(few, note)
    target.create_topic("t")
    host, port = few.bootstrap_servers.rsplit(":", 1)
    case = f"{CROWD} connections, {DESCRIPTORS} file descriptors"
    with target.watched(case, memory_mb_max=50, connects=False), ExitStack() as stack:
        for _ in range(CROWD):
            stack.enter_context(socket.create_connection((host, int(port)), timeout=10))
        time.sleep(2.0)
        assert open_descriptors(few.pid) < DESCRIPTORS - 10
    with Wire(few.bootstrap_servers, 10) as wire:
        assert wire.call(ApiVersionsRequest(), 0).error_code == 0
    assert few.exit_code is None
    assert few.log_file.stat().st_size < 100_000
    log = few.log_file.read_text()
    assert log.count("new connections have to wait") == 1
    deadline = time.monotonic() + 60
    while "connections are accepted again" not in few.log_file.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
