"""Directories formatted here and by Apache Kafka's own tool: the same files, taken by both."""

from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path

import pytest

from penstock.metadata.release import FEATURE_LEVEL_MAX, RELEASES, feature_default
from penstock.model.id import id_to_str
from penstock.quorum.metadata_snapshot import read_snapshot
from penstock.storage.disk import RealDisk
from penstock.testing.port import free_port
from penstock.testing.record import produce_records, read_records
from tests.unit.cli.conftest import PENSTOCK
from tests.unit.cli.test_cli_start import started
from tools.brief_kafka import brief_kafka
from tools.tool_host import shared_tool_host

pytestmark = [pytest.mark.java, pytest.mark.timeout(300)]

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qk"
DIRECTORY_IDS = ("JEXY6aqzQY-32P5TStzaFg", "MvDxzVmcRsaTz33bUuRU6A")
FIRST_SNAPSHOT = "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"


class Node:
    """The settings of one node, with directories of its own."""

    def __init__(self, home: Path, name: str, *, roles: str = "broker,controller") -> None:
        self.home = home
        self.name = name
        self.port, self.controller_port = free_port(), free_port()
        self.data = home / name
        listeners = []
        if "broker" in roles:
            listeners.append(f"PLAINTEXT://127.0.0.1:{self.port}")
        if "controller" in roles:
            listeners.append(f"CONTROLLER://127.0.0.1:{self.controller_port}")
        self.settings = {
            "process.roles": roles,
            "node.id": "1",
            "controller.quorum.bootstrap.servers": f"127.0.0.1:{self.controller_port}",
            "controller.listener.names": "CONTROLLER",
            "listeners": ",".join(listeners),
            "log.dirs": str(self.data),
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
        }

    def fix_voters(self) -> None:
        del self.settings["controller.quorum.bootstrap.servers"]
        self.settings["controller.quorum.voters"] = f"1@127.0.0.1:{self.controller_port}"

    @property
    def file(self) -> str:
        path = self.home / f"{self.name}.properties"
        path.write_text("".join(f"{key}={value}\n" for key, value in self.settings.items()))
        return str(path)

    def format_here(self, *options: str) -> str:
        command = [PENSTOCK, "storage", "format", "-t", CLUSTER_ID, "-c", self.file, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout

    def format_there(self, *options: str) -> str:
        command = ["format", "-t", CLUSTER_ID, "-c", self.file, *options]
        done = shared_tool_host().run("kafka-storage", command)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout


def timeless(path: Path) -> bytes:
    """A snapshot without its times: those of batches, their checksums, that of its header."""
    data = bytearray(path.read_bytes())
    # Where the first record's value has the time of the last record that the snapshot covers.
    data[73:81] = bytes(8)
    position = 0
    while position < len(data):
        size = 12 + struct.unpack_from(">i", data, position + 8)[0]
        data[position + 17 : position + 21] = bytes(4)
        data[position + 27 : position + 43] = bytes(16)
        position += size
    return bytes(data)


def files_of(directory: Path) -> list[str]:
    return sorted(str(each.relative_to(directory)) for each in directory.rglob("*"))


def properties_of(directory: Path) -> dict[str, str]:
    lines = (directory / "meta.properties").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if not line.startswith("#"))


CASES = {
    "initial": ["-I", f"1@here:9093:{DIRECTORY_IDS[0]},2@there:9094:{DIRECTORY_IDS[1]}"],
    "others": ["-I", f"2@there:9094:{DIRECTORY_IDS[1]}"],
    "nobody": ["-N"],
    "older": ["-N", "-r", "4.0", "-f", "transaction.version=1"],
    "fixed": [],
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_files(tmp_path: Path, case: str) -> None:
    ours, theirs = Node(tmp_path, "ours"), Node(tmp_path, "theirs")
    for node in (ours, theirs):
        node.settings["log.dirs"] = f"{node.data}-2,{node.data}-1"
        node.settings["metadata.log.dir"] = str(node.data)
        if case == "fixed":
            node.fix_voters()
    said, told = ours.format_here(*CASES[case]), theirs.format_there(*CASES[case])
    kinds = [sorted(text.replace("theirs", "ours").splitlines()[1:]) for text in (said, told)]
    assert kinds[0] == kinds[1]
    for suffix in ("", "-1", "-2"):
        here, there = Path(f"{ours.data}{suffix}"), Path(f"{theirs.data}{suffix}")
        assert files_of(here) == files_of(there)
        for each in here.rglob("*.checkpoint"):
            assert timeless(each) == timeless(there / each.relative_to(here))
        mine, other = properties_of(here), properties_of(there)
        if suffix or case != "initial":
            assert len(mine.pop("directory.id")) == len(other.pop("directory.id")) == 22
        assert mine == other


def test_a_standalone_voter_is_this_directory(tmp_path: Path) -> None:
    ours, theirs = Node(tmp_path, "ours"), Node(tmp_path, "theirs")
    theirs.controller_port = ours.controller_port
    theirs.settings = {**ours.settings, "log.dirs": str(theirs.data)}
    ours.format_here("--standalone")
    theirs.format_there("--standalone")
    assert files_of(ours.data) == files_of(theirs.data)
    values = []
    for node in (ours, theirs):
        (version, voters) = read_snapshot(RealDisk(), f"{node.data}/{FIRST_SNAPSHOT}").controls
        own = properties_of(node.data)["directory.id"]
        directory = bytes(voters[1][7:23])
        assert id_to_str(directory) == own
        values.append((version, voters[1].replace(directory, bytes(16))))
    assert values[0] == values[1]


def test_each_finds_what_the_other_formatted(tmp_path: Path) -> None:
    ours, theirs = Node(tmp_path, "ours"), Node(tmp_path, "theirs")
    ours.format_here("--standalone")
    theirs.format_there("--standalone")
    for node in (ours, theirs):
        there = shared_tool_host().run("kafka-storage", ["info", "-c", node.file])
        here = subprocess.run(
            [PENSTOCK, "storage", "info", "-c", node.file], capture_output=True, text=True
        )
        assert (there.returncode, there.stderr) == (0, "")
        assert (here.returncode, here.stderr) == (0, "")
        assert here.stdout == there.stdout
        assert CLUSTER_ID in here.stdout


@pytest.mark.parametrize("who", ["ours", "theirs"])
@pytest.mark.parametrize("how", ["standalone", "fixed"])
def test_both_start_from_it(tmp_path: Path, who: str, how: str) -> None:
    """And each goes on where the other stopped."""
    node = Node(tmp_path, "node")
    options = ("--standalone",) if how == "standalone" else ()
    if how == "fixed":
        node.fix_voters()
        node.settings["controller.quorum.bootstrap.servers"] = ""
    (node.format_here if who == "ours" else node.format_there)(*options)
    formatted = properties_of(node.data)
    settings = {**node.settings, "advertised.listeners": node.settings["listeners"]}
    kafka = brief_kafka(node.data, settings, port=node.port)
    with kafka:
        produce_records(kafka.bootstrap_servers, "from-kafka", "one")
        features = (
            shared_tool_host()
            .run("kafka-features", ["--bootstrap-server", kafka.bootstrap_servers, "describe"])
            .stdout
        )
    assert "metadata.version" in features and "FinalizedVersionLevel: 4.3-IV0" in features
    level = {"standalone": "1", "fixed": "0"}[how]
    (kraft,) = [line for line in features.splitlines() if "kraft.version" in line]
    assert f"FinalizedVersionLevel: {level}" in kraft
    with started("--config", node.file) as broker:
        assert [each.value for each in read_records(broker.address, "from-kafka")] == [b"one"]
    assert properties_of(node.data) == formatted


@pytest.mark.parametrize("who", ["ours", "theirs"])
def test_penstock_starts_from_it(tmp_path: Path, who: str) -> None:
    node = Node(tmp_path, "node")
    (node.format_here if who == "ours" else node.format_there)("--standalone")
    with started("--config", node.file) as broker:
        produce_records(broker.address, "t", "x")
        command = [PENSTOCK, "-b", broker.address, "cluster", "info", "--json"]
        found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert found["cluster_id"] == CLUSTER_ID


def test_what_each_release_begins_with() -> None:
    for level, release in RELEASES.items():
        told = shared_tool_host().run("kafka-storage", ["version-mapping", "-r", release]).stdout
        found = dict(line.split("=") for line in told.split("\n") if line)
        assert found.pop("metadata.version") == f"{level} ({release})"
        found.pop("kraft.version")
        assert {name: int(each) for name, each in found.items()} == {
            name: feature_default(name, level)
            for name in FEATURE_LEVEL_MAX
            if name != "kraft.version"
        }
