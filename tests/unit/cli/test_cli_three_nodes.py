"""An operator's commands against three nodes of Apache Kafka. Each test leaves a whole cluster."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from penstock.cli.balance.history import HISTORY_TOPIC
from tests.patience import wait_until
from tests.unit.cli.command_server import CommandServer
from tests.unit.cli.conftest import Answer, Command
from tools.apache_kafka import run_tool
from tools.brief_kafka import brief_cluster
from tools.kafka_cluster import KafkaCluster

pytestmark = pytest.mark.java

SETTINGS = {
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "2",
    # Not less: on a busy machine brokers that live would be fenced now and then.
    "broker.session.timeout.ms": "6000",
    "broker.heartbeat.interval.ms": "500",
}
WAIT_S = 60.0


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    folder = tmp_path_factory.mktemp("three")
    started = brief_cluster(
        folder / "kafka", 3, settings=SETTINGS, racks=["a", "b", "c"], dynamic=True
    )
    with started:
        yield started


@pytest.fixture(autouse=True)
def whole(cluster: KafkaCluster) -> Iterator[None]:
    """A test that fails in the middle does not take the next ones with it."""
    yield
    for number, node in cluster.nodes.items():
        if not node.running:
            cluster.start(number)


@pytest.fixture
def three(cluster: KafkaCluster, command_server: CommandServer) -> Command:
    return Command(cluster.bootstrap_servers, command_server)


@pytest.fixture
def full_topic(three: Command, topic: str) -> Iterator[str]:
    """Two replicas on brokers 1 and 2 of something that takes a while to copy slowly."""
    three.run("topics", "create", topic, "-p", "1", "-r", "2")
    moved = three.try_run("partitions", "move", f"{topic}:0", "--to", "1,2", "--yes", "--wait")
    assert moved.code == 0, moved
    line = b"x" * 1000 + b"\n"
    three.try_run("produce", topic, "-z", "none", stdin=line * 3000)
    yield topic
    three.run("topics", "delete", topic)


def brokers(three: Command) -> dict[int, dict[str, Any]]:
    return {each["id"]: each for each in three.run("brokers", "list", "--json").json}


def replicas(three: Command, topic: str) -> list[list[int]]:
    (described,) = three.run("topics", "describe", topic, "--json").json
    return [each["replicas"] for each in described["partitions"]]


def in_sync(three: Command) -> bool:
    return bool(three.run("topics", "describe", "--under-replicated", "--json").json == [])


def throttles(three: Command) -> set[tuple[str, str, str, str]]:
    return {
        (each["kind"], each["name"], key, value)
        for each in three.run("configs", "list", "--json").json
        for key, value in each["settings"].items()
        if "throttled" in key
    }


def test_brokers_and_quorum(three: Command, cluster: KafkaCluster, topic: str) -> None:
    three.run("topics", "create", topic, "-p", "6", "-r", "3")
    seen = brokers(three)
    assert sorted(seen) == [1, 2, 3]
    assert [seen[each]["rack"] for each in (1, 2, 3)] == ["a", "b", "c"]
    assert [seen[each]["port"] for each in (1, 2, 3)] == [
        cluster.nodes[each].port for each in (1, 2, 3)
    ]
    assert all(each["state"] == "up" and each["replicas"] >= 6 for each in seen.values())
    assert sorted(each["controller"] for each in seen.values()) == ["active", "voter", "voter"]

    quorum = three.run("quorum", "--json").json
    assert {each["id"]: each["role"] for each in quorum["replicas"]} == {
        each: "leader" if view["controller"] == "active" else "voter" for each, view in seen.items()
    }
    assert all(each["behind_s"] < 60 for each in quorum["replicas"])
    assert quorum["high_watermark"] > 0

    lines = three.run("brokers", "describe", "2").lines
    assert lines[0].split() == ["broker", "2", f"127.0.0.1:{cluster.nodes[2].port}", "up"]
    assert ["metadata.version", "30", "7-30"] in [line.split() for line in lines]
    assert three.fail("brokers", "describe", "9") == "there is no broker 9; there are 1, 2, 3"
    three.run("topics", "delete", topic)


def test_a_broker_that_died_is_seen_everywhere(
    three: Command, cluster: KafkaCluster, topic: str
) -> None:
    three.run("topics", "create", topic, "-p", "3", "-r", "3", "-s", "min.insync.replicas=3")
    three.run("topics", "create", f"{topic}-one", "-p", "3", "-r", "1")
    cluster.kill(3)
    wait_until(lambda: brokers(three)[3]["state"] == "fenced")
    dead = brokers(three)[3]
    assert (dead["leaders"], dead["size_bytes"]) == (0, None)
    assert dead["under_replicated"] == dead["replicas"] >= 4

    for fault in ("--under-replicated", "--under-min-isr"):
        found = three.run("topics", "describe", topic, fault, "--json").json
        assert [(each["partition"], sorted(each["isr"])) for each in found] == [
            (partition, [1, 2]) for partition in range(3)
        ]
    (offline,) = three.run("topics", "describe", "--offline", "--json").json
    assert (offline["topic"], offline["leader"], offline["replicas"]) == (f"{topic}-one", None, [3])
    missing = next(e for e in three.run("quorum", "--json").json["replicas"] if e["id"] == 3)
    assert missing["behind_s"] is None or missing["behind_s"] > 1

    refused = three.fail("brokers", "drain", "3")
    assert "no other live broker is left for" in refused
    # What it led went to another; its preferred leader gets it back.
    cluster.start(3)
    wait_until(lambda: in_sync(three))
    three.run("leaders", "elect", topic)
    (described,) = three.run("topics", "describe", topic, "--json").json
    assert all(each["leader"] == each["replicas"][0] for each in described["partitions"])
    assert three.run("leaders", "elect", f"{topic}:0").lines == ["no election was needed"]
    assert f"there is no partition {topic}:7" in three.fail("leaders", "elect", f"{topic}:7")
    three.run("topics", "delete", topic, f"{topic}-one")


def test_a_balance_run_and_undone(three: Command, topic: str) -> None:
    three.run("topics", "create", topic, "-p", "3", "-r", "1")
    moved = three.try_run("partitions", "move", topic, "--to", "1", "--yes", "--wait")
    assert moved.code == 0, moved
    producer = Producer({"bootstrap.servers": three.servers})
    for number in range(3000):
        producer.produce(topic, b"x" * 1000, partition=number % 3)
    assert producer.flush(60) == 0
    planned = three.run("balance", "plan", "--json").json
    assert sorted(each["topic"] for each in planned["moves"]).count(topic) == 2
    done = three.try_run("balance", "run", "--throttle", "500M", "--yes", "--json")
    assert (done.code, done.json["outcome"]) == (0, "done"), done
    assert sorted(replicas(three, topic)) == [[1], [2], [3]]
    then = three.run("balance", "plan", "--json").json
    assert (then["moves"], then["elections"]) == ([], [])
    undone = three.try_run("balance", "undo", "--throttle", "none", "--yes")
    assert undone.code == 0, undone
    assert replicas(three, topic) == [[1], [1], [1]]
    assert throttles(three) == set()
    # With its three replicas no broker could be drained.
    three.run("topics", "delete", topic, HISTORY_TOPIC)


def test_a_throttled_move_cancelled_and_done(three: Command, full_topic: str) -> None:
    place = f"{full_topic}:0"
    move = ("partitions", "move", place, "--to", "3,1")
    assert three.fail(*move) == "nothing was changed; add --yes to go on"
    planned = three.run(*move, "--dry-run", "--json").json
    assert [(each["from"], each["to"]) for each in planned["moves"]] == [([1, 2], [3, 1])]
    assert planned["moves"][0]["bytes"] > 3_000_000

    three.run(*move, "--throttle", "1K", "--yes")
    rates = {
        ("broker", str(each), f"{side}.replication.throttled.rate", "1024")
        for each in (1, 2, 3)
        for side in ("leader", "follower")
    }
    assert throttles(three) == rates | {
        ("topic", full_topic, "leader.replication.throttled.replicas", "0:1,0:2"),
        ("topic", full_topic, "follower.replication.throttled.replicas", "0:3"),
    }
    assert three.run("partitions", "moves").lines[1].split() == [place, "1,2", "3,1"]
    assert three.run("partitions", "cancel", full_topic).lines == ["cancelled 1 move"]
    assert (replicas(three, full_topic), throttles(three)) == ([[1, 2]], set())
    assert "is not being moved" in three.fail("partitions", "cancel", full_topic)

    done = three.try_run(*move, "--throttle", "500M", "--yes", "--wait", "--json")
    assert (done.code, done.json["outcome"]) == (0, "done")
    assert (replicas(three, full_topic), throttles(three)) == ([[3, 1]], set())
    assert three.run("partitions", "moves").lines == ["nothing is being moved"]


def test_a_topic_gets_more_replicas(three: Command, topic: str) -> None:
    three.run("topics", "create", topic, "-p", "3", "-r", "1")
    assert three.try_run("partitions", "move", topic, "-r", "3", "--yes", "--wait").code == 0
    assert [sorted(each) for each in replicas(three, topic)] == [[1, 2, 3]] * 3
    assert three.run("partitions", "move", topic, "-r", "3").lines[0].startswith("nothing to move")
    assert "4 replicas, and 3 brokers" in three.fail("partitions", "move", topic, "-r", "4")
    three.run("topics", "delete", topic)


def interrupt(three: Command, *words: str, after: str) -> str:
    """A command that waits, ended by Ctrl-C once it has said something: what it says then."""
    with subprocess.Popen(
        [sys.executable, "-m", "penstock.cli.main", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=three.environment(),
    ) as process:
        assert process.stderr is not None
        assert after in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == 130
    return said


def test_ctrl_c_says_what_goes_on(three: Command, full_topic: str) -> None:
    move = ("partitions", "move", full_topic, "--to", "2,3", "--throttle", "1K", "--yes", "--wait")
    said = interrupt(three, *move, after="moved 0 of 1 partition")
    assert "the moves go on by themselves: `penstock partitions moves`" in said
    assert len(three.run("partitions", "moves", "--json").json) == 1
    three.run("partitions", "cancel", "--all")


def test_a_broker_is_drained_in_two_calls_and_removed(
    three: Command, cluster: KafkaCluster, full_topic: str
) -> None:
    extra = f"{full_topic}-three"
    three.run("topics", "create", extra, "-p", "1", "-r", "3")
    refused = three.fail("brokers", "drain", "1", "--yes")
    assert refused.startswith("broker 1 cannot be drained: no other live broker is left for ")
    assert f"{extra}:0" in refused
    three.run("topics", "delete", extra)

    assert three.fail("brokers", "drain", "1") == "nothing was changed; add --yes to go on"
    assert brokers(three)[1]["state"] == "up"
    begun = three.run("brokers", "drain", "1", "--throttle", "1K", "--yes", "--no-wait", "--json")
    assert begun.json["outcome"] == "begun"
    assert all(1 not in each["to"] for each in begun.json["moves"])
    assert brokers(three)[1]["state"] == "cordoned"
    # The second call takes over what is under way, at its own pace.
    second = three.try_run("brokers", "drain", "1", "--throttle", "none", "--yes")
    assert second.code == 0, second
    assert re.fullmatch(r"\d moves? from before under way; they go on", second.lines[0])
    assert replicas(three, full_topic) == [[2, 3]] or replicas(three, full_topic) == [[3, 2]]
    assert brokers(three)[1]["replicas"] == 0
    assert throttles(three) == set()
    three.run("topics", "create", extra, "-p", "4", "-r", "2")
    assert all(1 not in each for each in replicas(three, extra))
    assert "was drained" in three.fail("partitions", "move", f"{full_topic}:0", "--to", "1,2")

    removed = three.try_run(
        "brokers", "remove", "1", "--yes", "--stop", f"kill {cluster.nodes[1].pid}"
    )
    assert removed.code == 0, removed
    assert removed.lines[-1] == "removed broker 1"
    assert "also a voter of the controllers' quorum" in removed.err
    assert sorted(brokers(three)) == [2, 3]
    cluster.stop(1)
    cluster.start(1)
    wait_until(lambda: 1 in brokers(three))
    three.run("brokers", "drain", "1", "--cancel")
    wait_until(lambda: brokers(three)[1]["state"] == "up")
    three.run("topics", "delete", extra)


def lagging(servers: str) -> list[str]:
    """Asked directly: the command itself is at work, and the server of commands runs one at a
    time."""
    admin = AdminClient({"bootstrap.servers": servers})
    return [
        f"{topic.topic}:{each.id}"
        for topic in admin.list_topics(timeout=WAIT_S).topics.values()
        for each in topic.partitions.values()
        if len(each.isrs) < len(each.replicas)
    ]


def test_a_dead_broker_is_replaced_and_removed(
    three: Command, cluster: KafkaCluster, full_topic: str
) -> None:
    cluster.kill(2)
    wait_until(lambda: brokers(three)[2]["state"] == "fenced")
    removed = three.try_run("brokers", "remove", "2", "--yes")
    assert removed.code == 0, removed
    assert removed.lines[-1] == "removed broker 2"
    assert sorted(brokers(three)) == [1, 3]
    assert [sorted(each) for each in replicas(three, full_topic)] == [[1, 3]]
    assert in_sync(three)
    cluster.start(2)
    wait_until(lambda: 2 in brokers(three))
    assert brokers(three)[2]["state"] == "up"


class Restarter:
    """Restarts the nodes whose numbers are written to a file, as a service manager would."""

    def __init__(self, cluster: KafkaCluster, file: Path, before: Callable[[], Any]) -> None:
        self.seen: list[tuple[int, Any]] = []
        self._cluster = cluster
        self._file = file
        self._before = before
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Restarter:
        self._file.touch()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(0.1):
            for word in self._file.read_text().split()[len(self.seen) :]:
                self.seen.append((int(word), self._before()))
                self._cluster.restart(int(word))


def test_a_rolling_restart(
    three: Command, cluster: KafkaCluster, topic: str, tmp_path: Path
) -> None:
    three.run("topics", "create", topic, "-p", "6", "-r", "3")
    three.run("topics", "create", f"{topic}-one", "-p", "1", "-r", "1")
    wait_until(lambda: in_sync(three))
    active = three.run("quorum", "--json").json["leader"]
    plan = three.run("brokers", "roll", "--dry-run").lines
    assert [line.split()[1] for line in plan[1:4]][-1] == str(active)
    assert any(line.startswith("away while their broker restarts") for line in plan)
    refused = three.fail("brokers", "roll", "--restart", "true")
    assert f"nothing was restarted: {topic}-one would be away" in refused
    three.run("topics", "delete", f"{topic}-one")
    wrong = three.try_run("brokers", "roll", "--restart", "exit 3", "--yes")
    assert wrong.code == 1
    assert "ended with code 3" in wrong.err
    assert "restarted so far: none" in wrong.err

    idle = ("brokers", "roll", "2", "--restart", "true", "--yes")
    stopped = interrupt(three, *idle, after="waiting: node 2 has not gone down yet")
    assert "restarted so far: none; nothing goes on by itself" in stopped
    assert "`penstock brokers roll 2 --restart ...`" in stopped

    calls = tmp_path / "restarts"
    with Restarter(cluster, calls, lambda: lagging(three.servers)) as restarter:
        done: Answer = three.try_run(
            "brokers", "roll", "--restart", f"echo {{id}} >> {calls}", "--yes"
        )
    assert done.code == 0, done
    assert [node for node, _ in restarter.seen][-1] == active
    assert sorted(node for node, _ in restarter.seen) == [1, 2, 3]
    assert [lacking for _, lacking in restarter.seen] == [[], [], []]
    assert done.lines[-1].startswith("restarted 3 nodes")
    assert "is not back yet" in done.err
    assert in_sync(three)


def test_kafkas_own_tool_sees_our_moves(three: Command, full_topic: str, tmp_path: Path) -> None:
    three.run("partitions", "move", full_topic, "--to", "2,3", "--throttle", "1K", "--yes")
    (wanted,) = three.run("partitions", "moves", "--json").json
    server = ("--bootstrap-server", three.servers)
    listed = run_tool("kafka-reassign-partitions", [*server, "--list"]).stdout
    assert f"{full_topic}-0: replicas:" in listed
    plan = {
        "version": 1,
        "partitions": [{"topic": full_topic, "partition": 0, "replicas": wanted["to"]}],
    }
    three.run("partitions", "cancel", full_topic)
    three.try_run("partitions", "move", full_topic, "--to", "2,3", "--yes", "--wait")
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan))
    verify = [*server, "--verify", "--reassignment-json-file", str(file)]
    verified = run_tool("kafka-reassign-partitions", verify)
    assert f"Reassignment of partition {full_topic}-0 is completed" in verified.stdout
