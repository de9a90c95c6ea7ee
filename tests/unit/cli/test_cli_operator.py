"""An operator's commands where there is one node: what they show, and what they refuse."""

from __future__ import annotations

import os
import pty
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.cli.failure import Failure
from penstock.cli.operator import held_connection
from penstock.cli.operator.held_connection import HeldConnection
from penstock.cli.operator.leader_command import elected_lines
from penstock.cli.operator.shell import NodeCommand
from penstock.cli.operator.state import TopicPartition
from tests.unit.cli.conftest import Command
from tests.unit.cli.test_cli_completion import bash


def only_broker(command: Command) -> int:
    (broker,) = command.run("brokers", "list", "--json").json
    return int(broker["id"])


def test_the_broker(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "2")
    command.run("produce", topic, "-v", "x" * 1000, "-z", "none")
    (broker,) = command.run("brokers", "list", "--json").json
    assert f"{broker['host']}:{broker['port']}" == command.servers
    assert (broker["state"], broker["controller"], broker["rack"]) == ("up", "active", None)
    assert broker["leaders"] == broker["replicas"] >= 2
    assert broker["under_replicated"] == 0
    assert broker["size_bytes"] > 1000
    header = command.run("brokers", "list").lines[0].split()
    assert header[:4] == ["ID", "HOST", "RACK", "STATE"]
    (described,) = command.run("brokers", "describe", str(broker["id"]), "--json").json
    levels = {each["name"]: each["level"] for each in described["features"]}
    assert levels["metadata.version"] == 30
    assert command.run("brokers", "describe").lines[0].split()[-1] == "up"


def test_the_quorum(command: Command) -> None:
    quorum = command.run("quorum", "--json").json
    (voter,) = [each for each in quorum["replicas"] if each["role"] == "leader"]
    assert voter["id"] == quorum["leader"] == only_broker(command)
    assert (voter["lag"], voter["behind_s"]) == (0, 0.0)
    lines = command.run("quorum").lines
    assert lines[0].split() == ["leader", str(quorum["leader"])]
    assert lines[4].split()[:4] == ["NODE", "ROLE", "END", "LAG"]


def test_elections_that_are_not_needed(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "2")
    done = command.run("leaders", "elect", topic, "--json").json
    assert done == {"elected": [], "not_needed": [f"{topic}:0", f"{topic}:1"], "failed": {}}
    assert command.run("leaders", "elect", "--all").lines == ["no election was needed"]
    assert "there is no topic" in command.fail("leaders", "elect", f"{topic}-x")
    refused = command.fail("leaders", "elect", topic, "--unclean")
    assert refused == "nothing was changed; add --yes to go on"


def test_moves_that_cannot_be(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "2")
    broker = only_broker(command)
    same = command.run("partitions", "move", f"{topic}:0", "--to", str(broker), "--yes")
    assert same.lines == ["nothing to move: every replica is where it should be"]
    assert command.run("partitions", "moves").lines == ["nothing is being moved"]
    assert command.run("partitions", "moves", "--json").json == []
    unknown = f"there is no broker 77; there are {broker}"
    assert command.fail("partitions", "move", topic, "--to", "77") == unknown
    assert command.fail("brokers", "drain", "77") == unknown
    assert "wants 2 replicas" in command.fail("partitions", "move", topic, "-r", "2")
    refused = command.fail("brokers", "drain", str(broker), "--yes")
    assert "no other live broker is left for" in refused
    assert "is not being moved" in command.fail("partitions", "cancel", topic)
    assert command.run("partitions", "cancel", "--all").lines == ["cancelled 0 moves"]


def test_a_single_node_is_not_rolled_unasked(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    plan = command.run("brokers", "roll", "--dry-run").lines
    assert plan[1].split()[-1] == "active"
    assert "having one replica" in command.fail("brokers", "roll", "--restart", "true")


def test_partitions_with_nothing_wrong(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "2")
    described = command.run("topics", "describe", topic, "--under-replicated", "--offline")
    assert described.lines == ["no partition is under-replicated or offline"]
    at_min = command.run("topics", "describe", topic, "--at-min-isr", "--json").json
    assert [(each["partition"], each["min_isr"]) for each in at_min] == [(0, 1), (1, 1)]
    assert (
        command.run("topics", "describe", topic, "--at-min-isr").lines[1].startswith(f"{topic}:0")
    )
    assert "there is no topic" in command.fail("topics", "describe", f"{topic}-x", "--offline")


def test_more_partitions_for_records_with_keys(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "2")
    command.run("topics", "create", f"{topic}-free", "-p", "2")
    command.run("produce", topic, "-k", "42", "-v", "x")
    command.run("produce", f"{topic}-free", "-v", "x")
    said = command.fail("topics", "alter", topic, "-p", "4", "-s", "retention.ms=1000")
    assert said.startswith(f"{topic} has records with keys: with more partitions, new records")
    assert said.endswith(f"repartition {topic} --partitions N` keeps it, --yes goes on without")
    (described,) = command.run("topics", "describe", topic, "--json").json
    assert (len(described["partitions"]), described["settings"]) == (2, {})
    command.run("topics", "alter", topic, "-s", "retention.ms=1000")
    command.run("topics", "alter", topic, "-p", "4", "--yes")
    command.run("topics", "alter", f"{topic}-free", "-p", "4")
    assert "there is no topic" in command.fail("topics", "alter", f"{topic}-x", "-p", "4")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("topics", "describe"), "name a topic, or ask for what is wrong"),
        (("leaders", "elect"), "or --all for every partition"),
        (("leaders", "elect", "t", "--all"), "or --all for every partition"),
        (("leaders", "elect", "t", "--preferred", "--unclean"), "not both"),
        (("partitions", "move", "t"), "nothing to move: give --to, --replicas, or both"),
        (("partitions", "move", "t", "--to", "1", "--throttle", "fast"), "--throttle takes bytes"),
        (("partitions", "cancel"), "or --all for every move"),
        (("brokers", "roll"), "--restart 'COMMAND {id}'"),
        (("brokers", "drain", "x"), "valid integer"),
    ],
)
def test_wrong_usage(nowhere: Command, words: tuple[str, ...], said: str) -> None:
    assert said in nowhere.fail(*words, code=2)


def test_no_cluster(nowhere: Command) -> None:
    for words in (
        ("brokers", "list"),
        ("quorum",),
        ("partitions", "moves"),
        ("brokers", "drain", "1"),
    ):
        assert "no broker answers at 127.0.0.1:1" in nowhere.fail(*words)


def test_what_our_own_connections_do_not_read_is_refused(nowhere: Command) -> None:
    secured = ("-X", "security.protocol=SSL")
    for words in (("brokers", "list"), ("quorum",), ("leaders", "elect", "--all")):
        said = nowhere.fail(*words, *secured, "-X", "ssl.keystore.location=x.p12")
        assert "ssl.keystore.location is not read by this command" in said
    said = nowhere.fail("quorum", *secured, "-X", "ssl.ca.location=/nowhere")
    assert "the certificates cannot be read" in said


def at_terminal(command: Command, *words: str, typed: bytes) -> tuple[int, str]:
    """What becomes of a question that a person answers."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "penstock.cli.main", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=command.environment(),
    ) as process:
        os.close(theirs)
        os.write(ours, typed)
        seen = b""
        try:
            while chunk := os.read(ours, 1 << 16):
                seen += chunk
        except OSError:
            pass
    os.close(ours)
    return process.returncode, seen.decode()


def test_a_question_is_answered(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    words = ("leaders", "elect", topic, "--unclean")
    code, seen = at_terminal(command, *words, typed=b"n\n")
    assert (code, "are lost. Go on? [y/N]" in seen, "nothing was changed" in seen) == (
        1,
        True,
        True,
    )
    code, seen = at_terminal(command, *words, typed=b"yes\n")
    assert (code, "no election was needed" in seen) == (0, True)


def test_many_elections_are_a_line_for_each_topic() -> None:
    many = [TopicPartition("many", each) for each in range(1200)]
    few = [TopicPartition("few", each) for each in (3, 5)]
    assert list(elected_lines([*few, *many])) == [
        "elected a leader of few:3",
        "elected a leader of few:5",
        "elected leaders of 1,200 partitions of many",
    ]


def test_brokers_are_offered_on_tab(command: Command) -> None:
    assert bash(command, "brokers", "describe", "") == [str(only_broker(command))]


def test_a_node_command_is_filled_in(tmp_path: Path) -> None:
    NodeCommand(f"echo {{id}} {{host}}:{{port}} > {tmp_path}/said", 3, "h", 9092).wait()
    assert (tmp_path / "said").read_text() == "3 h:9092\n"
    with pytest.raises(Failure, match="`exit 4` ended with code 4"):
        NodeCommand("exit 4", 3, "h", 9092).wait()


def test_a_held_connection_breaks_with_its_process_and_not_for_idleness(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(held_connection, "_KEEP_S", 0.0)
    monkeypatch.setattr(held_connection, "_LOOK_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        with HeldConnection(socket.create_connection((host, port), 5.0)) as held:
            other, _ = server.accept()
            with other:
                assert not held.broken()
                # It asked something, so that the node does not close it.
                assert other.recv(1 << 16)
                other.sendall(b"answer")
                assert not held.broken()
            assert held.broken()
            assert held.broken()
