"""`penstock start` as scripts and supervisors use it."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from penstock.testing.record import produce_records, read_records
from tests.unit.cli.conftest import PENSTOCK

ANYWHERE = ("--listen", "127.0.0.1:0")


class Started:
    def __init__(self, process: subprocess.Popen[bytes], ready: dict[str, Any]) -> None:
        self.process = process
        self.ready = ready
        self.address: str = ready["listen"]

    def end(self, number: signal.Signals) -> tuple[int, str, str]:
        """Exit code, stdout, stderr."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, out.decode(), err.decode()


@contextmanager
def started(*arguments: str, command: tuple[str, ...] = (PENSTOCK,)) -> Iterator[Started]:
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [*command, "start", *arguments, "--ready-fd", str(writing)],
        pass_fds=[writing],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.close(writing)
    try:
        with process, open(reading) as pipe:
            assert select.select([pipe], [], [], 30)[0]
            line = pipe.readline()
            assert line, process.communicate(timeout=10)[1].decode()
            yield Started(process, json.loads(line))
            process.kill()
    finally:
        process.kill()


def refused(*arguments: str, code: int = 1) -> str:
    """The one line of a start that must fail."""
    answer = subprocess.run(
        [PENSTOCK, "start", *arguments], capture_output=True, text=True, timeout=30, check=False
    )
    assert answer.returncode == code, answer
    assert answer.stdout == ""
    assert answer.stderr.startswith("penstock: ")
    assert answer.stderr.count("\n") == 1
    return answer.stderr.removeprefix("penstock: ").rstrip()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_ready_line_and_clean_stop(tmp_path: Path, number: signal.Signals) -> None:
    with started(*ANYWHERE, "--data-dir", str(tmp_path / "data")) as broker:
        assert broker.ready["pid"] == broker.process.pid
        assert broker.ready["metrics"] is None
        produce_records(broker.address, "t", "x")
        code, out, err = broker.end(number)
    assert code == 0
    (line,) = out.splitlines()
    assert line.startswith(f"penstock ready on {broker.address} ")
    assert "Traceback" not in err


def test_files_for_scripts(tmp_path: Path) -> None:
    ready, pid = tmp_path / "ready", tmp_path / "pid"
    files = ("--ready-file", str(ready), "--pid-file", str(pid))
    with started(*ANYWHERE, "--data-dir", str(tmp_path / "data"), *files) as broker:
        assert json.loads(ready.read_text()) == broker.ready
        assert int(pid.read_text()) == broker.process.pid
        broker.end(signal.SIGTERM)
    assert not ready.exists()
    assert not pid.exists()


def test_settings_from_file_and_command_line(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("num.partitions=4\nlog.retention.ms=5000\n")
    settings = ("--config", str(file), "--set", "num.partitions=2")
    with started(*ANYWHERE, "--data-dir", str(tmp_path / "data"), *settings) as broker:
        command = [PENSTOCK, "-b", broker.address, "configs", "describe", "broker", "1", "--own"]
        answer = subprocess.run([*command, "--json"], capture_output=True, check=True)
    values = {each["name"]: each["value"] for each in json.loads(answer.stdout)}
    assert (values["num.partitions"], values["log.retention.ms"]) == ("2", "5000")


def test_advertised_address_is_what_clients_are_told(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    where = ("--listen", f"127.0.0.1:{port}", "--advertise", f"localhost:{port}")
    with started(*where, "--data-dir", str(tmp_path / "data")) as broker:
        from confluent_kafka.admin import AdminClient

        admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}"})
        (node,) = admin.list_topics(timeout=60).brokers.values()
        assert (node.host, node.port) == ("localhost", port)
        del broker


def test_metrics_are_served(tmp_path: Path) -> None:
    from urllib.request import urlopen

    options = ("--metrics", "127.0.0.1:0", "--data-dir", str(tmp_path / "data"))
    with (
        started(*ANYWHERE, *options) as broker,
        urlopen(f"http://{broker.ready['metrics']}/metrics", timeout=60) as answer,
    ):
        assert b"# TYPE" in answer.read()


def test_json_logs(tmp_path: Path) -> None:
    """Every line is JSON, on both outputs; the first says that the broker is ready."""
    options = ("--log-format", "json", "--log-level", "debug", "--data-dir", str(tmp_path / "data"))
    with started(*ANYWHERE, *options) as broker:
        host, _, port = broker.address.partition(":")
        with socket.create_connection((host, int(port)), 10) as hostile:
            hostile.sendall(b"GET / HTTP/1.1\r\n\r\n" + bytes(100))
            hostile.recv(100)
        _, out, err = broker.end(signal.SIGTERM)
    (ready,) = [json.loads(line) for line in out.splitlines()]
    assert (ready["event"], ready["level"], ready["listen"]) == ("ready", "info", broker.address)
    events = [json.loads(line) for line in err.splitlines()]
    assert events[-1]["event"] == "stopped"
    for each in (ready, *events):
        assert list(each)[:4] == ["time", "level", "source", "event"]
        assert each["source"].startswith("penstock.")


def test_a_refusal_in_json(tmp_path: Path) -> None:
    arguments = ("--log-format", "json", "--set", "ssl.provider=SunJSSE")
    command = [PENSTOCK, "start", *ANYWHERE, "--data-dir", str(tmp_path / "data"), *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert (answer.returncode, answer.stdout) == (1, "")
    (line,) = answer.stderr.splitlines()
    said = json.loads(line)
    assert said["level"] == "error"
    assert said["event"].startswith("--set: ssl.provider=SunJSSE: ")


def test_interrupted_before_it_has_begun(tmp_path: Path) -> None:
    """Held up where it reads its settings: nothing has started, and nothing is said."""
    fifo = tmp_path / "server.properties"
    os.mkfifo(fifo)
    command = [PENSTOCK, "start", *ANYWHERE, "--data-dir", str(tmp_path / "data")]
    process = subprocess.Popen(
        [*command, "--config", str(fifo)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with process, open(fifo, "wb"):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert not (tmp_path / "data").exists()


def test_as_a_module(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "penstock")
    with started(*ANYWHERE, "--data-dir", str(tmp_path / "data"), command=command) as broker:
        produce_records(broker.address, "t", "x")
        assert read_records(broker.address, "t")[0].value == b"x"


def test_a_port_in_use(tmp_path: Path) -> None:
    with started(*ANYWHERE, "--data-dir", str(tmp_path / "one")) as broker:
        said = refused("--listen", broker.address, "--data-dir", str(tmp_path / "two"))
        metrics = refused(
            *ANYWHERE, "--data-dir", str(tmp_path / "three"), "--metrics", broker.address
        )
    assert said.startswith(f"{broker.address} is in use")
    assert metrics.startswith(f"{broker.address} is in use")
    assert metrics.endswith("choose another --metrics")


def test_a_directory_in_use(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    with started(*ANYWHERE, "--data-dir", data) as broker:
        said = refused(*ANYWHERE, "--data-dir", data)
        assert data in said
        assert f"pid {broker.process.pid}" in said


def test_settings_are_checked_by_name(tmp_path: Path) -> None:
    data = ("--data-dir", str(tmp_path / "data"))
    said = refused(*data, "--set", "num.partition=3")
    assert "unknown setting num.partition; did you mean num.partitions?" in said
    assert "num.partitions" in refused(*data, "--set", "num.partitions=many")
    file = tmp_path / "server.properties"
    file.write_text("# a comment\nnum.partition=3\n")
    assert f"{file}:2" in refused(*data, "--config", str(file))
    assert "nowhere" in refused(*data, "--config", str(tmp_path / "nowhere"))
    assert "HOST:PORT" in refused(*data, "--listen", "nonsense")


def test_wrong_usage(tmp_path: Path) -> None:
    assert "did you mean --listen?" in refused("--lisen", "x", code=2)
    assert "--set takes KEY=VALUE" in refused("--set", "x", code=2)
    assert "no such file descriptor" in refused("--ready-fd", "77", code=2)
