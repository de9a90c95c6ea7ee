"""A cluster on this machine before anything runs: ports, settings, files, processes by number."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.cli.failure import Failure
from penstock.cli.local.formation import form_cluster
from penstock.cli.local.layout import (
    LocalNode,
    NodeFiles,
    controllers_of,
    node_settings,
    plan_nodes,
)
from penstock.cli.local.process import ProcessId, started_at
from penstock.cli.local.record import FILE, ClusterRecord, read_record, write_record


@pytest.mark.parametrize(
    ("nodes", "controllers"), [(1, 1), (2, 1), (3, 3), (4, 3), (5, 5), (6, 5), (20, 5)]
)
def test_an_odd_number_of_nodes_vote(nodes: int, controllers: int) -> None:
    assert controllers_of(nodes) == controllers
    voting = [each for each in plan_nodes(nodes, 9092) if each.controller_port is not None]
    assert len(voting) == controllers


def test_ports_follow_each_other() -> None:
    assert plan_nodes(2, 9092) == [LocalNode(1, 9092, 9192), LocalNode(2, 9093, None)]


@pytest.mark.parametrize(
    ("nodes", "replicas", "in_sync"), [(1, "1", "1"), (2, "2", "1"), (3, "3", "2"), (5, "3", "2")]
)
def test_writes_go_on_with_one_node_down(nodes: int, replicas: str, in_sync: str) -> None:
    planned = plan_nodes(nodes, 9092)
    settings = node_settings(planned[0], planned, Path("/data"), "host")
    assert settings["default.replication.factor"] == replicas
    assert settings["offsets.topic.replication.factor"] == replicas
    assert settings["transaction.state.log.replication.factor"] == replicas
    assert settings["min.insync.replicas"] == in_sync
    assert settings["transaction.state.log.min.isr"] == in_sync
    assert settings["broker.rack"] == "host"


def test_the_folders_are_made_once(tmp_path: Path) -> None:
    made = form_cluster(tmp_path, 3, 0)
    metas = [NodeFiles(tmp_path, each.id).data / "meta.properties" for each in made.nodes]
    before = [each.read_text() for each in metas]
    assert all(f"cluster.id={made.cluster_id}" in each for each in before)
    assert form_cluster(tmp_path, None, None) == made
    assert [each.read_text() for each in metas] == before


def test_more_nodes_are_brokers_of_the_same_cluster(tmp_path: Path) -> None:
    made = form_cluster(tmp_path, 1, 0)
    grown = form_cluster(tmp_path, 2, None)
    assert grown.nodes == (*made.nodes, LocalNode(2, made.nodes[0].port + 1, None))
    assert read_record(tmp_path) == grown
    assert "process.roles=broker\n" in NodeFiles(tmp_path, 2).config.read_text()


def test_fewer_nodes_are_refused(tmp_path: Path) -> None:
    form_cluster(tmp_path, 2, 0)
    with pytest.raises(Failure, match="has 2 nodes; --nodes 1 would leave their replicas behind"):
        form_cluster(tmp_path, 1, None)


def test_other_ports_are_refused_later(tmp_path: Path) -> None:
    first = form_cluster(tmp_path, 1, 0).nodes[0].port
    with pytest.raises(Failure, match=f"listen from {first} on"):
        form_cluster(tmp_path, None, first + 1)


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").touch()
    with pytest.raises(Failure, match="is not empty and holds no cluster"):
        form_cluster(tmp_path, 3, 0)
    assert [each.name for each in tmp_path.iterdir()] == ["letters.txt"]


def test_a_port_that_is_taken_is_found_before_anything_is_made(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Failure, match=f"127.0.0.1:{port} cannot be listened on: address"):
            form_cluster(tmp_path, 3, port)
    assert list(tmp_path.iterdir()) == []


def test_a_port_beyond_the_last_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="there is no port 65536; name a smaller --listen-base"):
        form_cluster(tmp_path, 1, 65436)


def test_a_number_that_another_process_got_is_not_the_old_one() -> None:
    here = ProcessId.of(os.getpid())
    assert here.is_alive()
    assert not ProcessId(here.pid, "long ago").is_alive()
    assert not ProcessId(here.pid, "").is_alive()


def test_a_process_that_ended_is_gone_before_anybody_took_notice() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        process = ProcessId.of(child.pid)
        assert process.is_alive()
        assert child.stdin is not None
        child.stdin.close()
        assert process.wait_gone(20)
        assert started_at(child.pid) is None


def test_the_record_reads_as_it_was_written(tmp_path: Path) -> None:
    record = ClusterRecord(
        "id", tuple(plan_nodes(2, 9092)), ProcessId(7, "now"), {1: ProcessId(8, "then")}
    )
    write_record(tmp_path, record)
    assert read_record(tmp_path) == record
    assert [each.name for each in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("text", ["", "{", "[]", json.dumps({"cluster_id": "x", "nodes": 3})])
def test_a_record_that_makes_no_sense_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(Failure, match=r"cluster\.json cannot be understood; mend it or remove it"):
        read_record(tmp_path)
