"""docs/cluster.md is true: its commands are run on real nodes, while a producer writes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from penstock.testing.port import free_port
from tests.mixed.load_kit import Writer, number_of, read_all
from tests.mixed.our_node import OurNode
from tests.page_kit import HERE, Block, Reader, sections
from tests.patience import wait_until

pytestmark = pytest.mark.timeout(900)

PAGE = sections("docs/cluster.md")
LOCAL, ROLL, MORE, MACHINES = list(PAGE)[:4]
START = "penstock cluster start"
ADDRESSES = "127.0.0.1:9092,127.0.0.1:9093,127.0.0.1:9094"
STOP_S = 180.0


@contextmanager
def started(reader: Reader, block: Block) -> Iterator[str]:
    """The page's `penstock cluster start`, at ports that are free here; its bootstrap servers."""
    assert block.text.startswith(START) and block.text.count("\n") == 1
    words = block.text.split()[1:]
    home = reader.home(HERE)
    if not (home / "penstock-cluster").exists():
        words += ["--listen-base", "0"]
    log = home / "terminal.log"
    log.unlink(missing_ok=True)
    with open(log, "ab") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "penstock", *words], cwd=home, stdout=out, stderr=out
        )
    try:

        def is_up() -> bool:
            assert process.poll() is None, log.read_text()
            return "Ctrl-C stops all nodes." in log.read_text()

        wait_until(is_up, log.read_text)
        found = re.search(r"bootstrap servers: (\S+)", log.read_text())
        assert found is not None
        yield found[1]
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(STOP_S) == 0, log.read_text()


def replicas_of(said: str) -> dict[int, list[int]]:
    (described,) = json.loads(said)
    return {each["partition"]: each["replicas"] for each in described["partitions"]}


def test_three_nodes_a_restart_and_a_fourth(tmp_path: Path) -> None:
    reader = Reader(tmp_path, {}, lambda *_: None)
    start, create, kill = PAGE[LOCAL]
    with ExitStack() as stack:
        with started(reader, start) as servers:
            reader.names[ADDRESSES] = servers
            reader.run(create)
            writer = Writer(servers, "orders", 6)
            stack.enter_context(writer)
            assert "node 2 killed" in reader.run(kill)
            for block in PAGE[ROLL]:
                assert "restarted 3 nodes" in reader.run(block)
            writer.check()
            written = writer.count
            assert written > 0
        start, spread, drain = PAGE[MORE]
        with started(reader, start) as servers:
            reader.run(spread)
            describe = Block("sh", "penstock topics describe orders --json\n")
            assert 4 in set().union(*replicas_of(reader.run(describe)).values())
            reader.run(drain)
            assert 4 not in set().union(*replicas_of(reader.run(describe)).values())
            brokers = reader.run(Block("sh", "penstock brokers list --json\n"))
            assert [each["id"] for each in json.loads(brokers)] == [1, 2, 3]
            writer.end()
            assert writer.count > written
            found = read_all(servers, "orders", 6)
            for partition, records in found.items():
                numbers = [number_of(value) for _, value in records if value[:1] == b"w"]
                assert numbers == list(range(len(writer.acknowledged[partition])))


def test_nodes_on_several_machines(tmp_path: Path) -> None:
    hosts = {f"host{number}": number for number in (1, 2, 3)}
    nodes: dict[str, OurNode] = {}

    def service(host: str, verb: str, name: str) -> None:
        assert (verb, name) == ("start", "penstock")
        nodes[host].launch()

    def names_on(host: str) -> dict[str, str]:
        return {"/var/lib/penstock": str(tmp_path / host / "data")}

    reader = Reader(tmp_path, {}, service, names_on)
    properties, new_id, each_host = PAGE[MACHINES]
    for host in hosts:
        port = free_port()
        reader.names |= {
            f"{host}:9092": f"127.0.0.1:{port}",
            f"{host}:9093": f"127.0.0.1:{free_port()}",
        }
        nodes[host] = OurNode(reader.home(host), port)
    for host, number in hosts.items():
        lines = [
            line if line.startswith("controller.quorum") else line.replace("host1", host)
            for line in properties.text.replace("node.id=1", f"node.id={number}").splitlines()
        ]
        text = reader.here("\n".join(lines), host) + "\n"
        (reader.home(host) / "server.properties").write_text(text)
    reader.names["CLUSTER_ID"] = reader.run(new_id).strip()
    try:
        reader.run(each_host)
        for node in nodes.values():
            node.wait_ready()
        servers = ",".join(f"127.0.0.1:{node.port}" for node in nodes.values())
        wait_until(lambda: _count(reader, servers) == 3, "not all nodes are up")
        reader.run(Block("sh", f"penstock topics create orders -b {servers}\n"))
        said = reader.run(Block("sh", f"penstock topics describe orders --json -b {servers}\n"))
        assert sorted(replicas_of(said)[0]) == [1, 2, 3]
    finally:
        for node in nodes.values():
            node.kill()


def _count(reader: Reader, servers: str) -> int:
    said = reader.run(Block("sh", f"penstock brokers list --json -b {servers}\n"))
    return len([each for each in json.loads(said) if each["state"] == "up"])
