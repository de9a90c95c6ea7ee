"""The pytest plugin's broker, used the way a user's tests use it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from penstock.testing import Broker, BrokerError


def alive(pid: int) -> bool:
    """Whether the process still runs; one that ended and waits to be reaped does not."""
    answer = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False)
    return bool(answer.stdout.strip()) and not answer.stdout.strip().startswith(b"Z")


def wait_dead(pid: int) -> bool:
    deadline = time.monotonic() + 60
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(pid)


def values(broker: Broker, topic: str) -> list[bytes | None]:
    return [each.value for each in broker.read(topic)]


def test_records_in_and_out(penstock: Broker, tmp_path: Path) -> None:
    penstock.create_topic("orders", partitions=2)
    sent = penstock.produce("orders", [("k", "1"), ("k", None)], partition=1, headers=[("h", b"v")])
    assert penstock.read("orders") == sent
    assert [(each.offset, each.key, each.value) for each in sent] == [
        (0, b"k", b"1"),
        (1, b"k", None),
    ]
    assert sent[0].headers == [("h", b"v")]
    assert penstock.read("orders", partition=0) == []
    assert penstock.read("orders", partition=1, start=1) == sent[1:]
    assert penstock.data_dir.is_relative_to(tmp_path)
    assert (penstock.data_dir / "orders-1").is_dir()


def test_reading_waits_for_a_count(penstock: Broker) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", ["1", "2"])
    assert len(penstock.read("orders", count=2)) == 2
    with pytest.raises(TimeoutError, match="read 2 records, but not 3 records"):
        penstock.read("orders", count=3, timeout_s=0.5)


def test_restart_keeps_address_and_data(penstock: Broker) -> None:
    penstock.create_topic("orders", config={"retention.ms": 60_000})
    address, pid = penstock.bootstrap_servers, penstock.pid
    penstock.produce("orders", ["before"])
    penstock.restart()
    assert (penstock.bootstrap_servers, penstock.pid == pid) == (address, False)
    penstock.produce("orders", ["after"])
    assert values(penstock, "orders") == [b"before", b"after"]


def test_kill_is_a_kill(penstock: Broker) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", ["acknowledged"])
    pid = penstock.pid
    penstock.kill()
    assert not penstock.running
    assert not alive(pid)
    host, port = penstock.bootstrap_servers.split(":")
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((host, int(port)), timeout=1)
    penstock.start()
    assert values(penstock, "orders") == [b"acknowledged"]


def test_stop_is_clean(penstock: Broker) -> None:
    assert penstock.stop() == 0
    assert not penstock.running
    assert penstock.stop() == 0
    with pytest.raises(BrokerError, match="not running"):
        _ = penstock.pid


@pytest.mark.penstock(settings={"num.partitions": 5})
def test_settings_by_marker(penstock: Broker) -> None:
    penstock.produce("made-by-itself", ["x"])
    admin = AdminClient({"bootstrap.servers": penstock.bootstrap_servers})
    metadata = admin.list_topics("made-by-itself", timeout=10)
    assert len(metadata.topics["made-by-itself"].partitions) == 5


def test_several_brokers(penstock_factory: Callable[..., Broker]) -> None:
    first, second = penstock_factory(), penstock_factory({"num.partitions": 1})
    first.produce("t", ["first"])
    second.produce("t", ["second"])
    assert values(first, "t") == [b"first"]
    assert values(second, "t") == [b"second"]
    assert first.data_dir != second.data_dir


def test_a_broker_that_cannot_start_says_why(penstock_factory: Callable[..., Broker]) -> None:
    broker = penstock_factory({"no.such.setting": 1}, start=False)
    with pytest.raises(BrokerError, match=r"no\.such\.setting"):
        broker.start()
    assert not broker.running


def test_two_brokers_do_not_share_a_directory(penstock_factory: Callable[..., Broker]) -> None:
    first = penstock_factory()
    second = penstock_factory(data_dir=first.data_dir, start=False)
    with pytest.raises(BrokerError):
        second.start()
    assert first.running


def test_brokers_die_with_the_process_that_wanted_them(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from penstock.testing import Broker\n"
        f"broker = Broker(Path({str(tmp_path)!r}) / 'data'); broker.start()\n"
        "print(broker.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        assert alive(pid)
        os.kill(owner.pid, signal.SIGKILL)
    assert wait_dead(pid)


def test_the_plugin_loads_nothing_until_it_is_used() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import penstock.testing.plugin\n"
        "print(sorted(set(sys.modules) - before))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert eval(answer.stdout) == ["penstock", "penstock.testing", "penstock.testing.plugin"]


def test_a_users_suite(tmp_path: Path) -> None:
    """In a pytest of its own, as after `pip install penstock`."""
    (tmp_path / "test_user.py").write_text(
        "def test_x(penstock):\n"
        "    penstock.produce('greetings', 'hello')\n"
        "    assert penstock.read('greetings')[0].value == b'hello'\n"
        "    raise SystemError(penstock.bootstrap_servers)\n"
    )
    arguments = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    answer = subprocess.run(arguments, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert answer.returncode == 1
    assert "SystemError: 127.0.0.1:" in answer.stdout
    assert "penstock log" in answer.stdout
