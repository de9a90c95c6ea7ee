"""Three nodes of which some take no new replicas (KIP-1066), and a broker that is drained."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.cli.cluster import Cluster as Target
from penstock.cli.operator.drain import drain
from penstock.cli.operator.link import Link
from penstock.cli.operator.mover import Mover
from penstock.cli.profile import Target as Place
from penstock.testing.cluster import Cluster
from tests.cluster.command_kit import begin, run
from tests.cordon_kit import CORDONED, set_cordon
from tests.patience import wait_until
from tools.tool_host import shared_tool_host


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    settings = {"offsets.topic.num.partitions": 1, "transaction.state.log.num.partitions": 1}
    cluster = Cluster(tmp_path_factory.mktemp("cordon") / "nodes", 3, settings)
    for node in cluster.nodes.values():
        node.settings["log.dirs"] = f"{node.data_dir}/one,{node.data_dir}/two"
    with cluster as started:
        yield started


@pytest.fixture(autouse=True)
def open_again(nodes: Cluster) -> Iterator[None]:
    yield
    for number in nodes.nodes:
        cordon(nodes, number, None)
        wait_until(lambda number=number: state(nodes, number) == "up")  # type: ignore[misc]


def cordon(nodes: Cluster, number: int, value: str | None) -> None:
    set_cordon(nodes.nodes[number].bootstrap_servers, number, value)


def state(nodes: Cluster, number: int) -> str:
    found = {each["id"]: each["state"] for each in run(nodes, "brokers", "list")}
    return str(found[number])


def create(nodes: Cluster, topic: str, partitions: int, replicas: int) -> str | None:
    """What is wrong with it."""
    admin = AdminClient({"bootstrap.servers": nodes.bootstrap_servers})
    (made,) = admin.create_topics([NewTopic(topic, partitions, replicas)]).values()
    try:
        made.result(60)
    except KafkaException as error:
        return str(error.args[0].name())
    return None


def delete(nodes: Cluster, *topics: str) -> None:
    admin = AdminClient({"bootstrap.servers": nodes.bootstrap_servers})
    for deleted in admin.delete_topics(list(topics)).values():
        deleted.result(60)


def holders(nodes: Cluster, topic: str) -> set[int]:
    (described,) = run(nodes, "topics", "describe", topic)
    return {number for each in described["partitions"] for number in each["replicas"]}


def is_told(nodes: Cluster, topic: str, *, taken: bool) -> bool:
    """Whether the controller knows: topics of three replicas are then refused, or made."""
    refused = create(nodes, topic, 1, 3)
    assert refused in (None, "INVALID_REPLICATION_FACTOR")
    if refused is None:
        delete(nodes, topic)
    return (refused is None) == taken


def test_the_controller_leaves_out_who_takes_no_new_replicas(nodes: Cluster) -> None:
    assert create(nodes, "before", 2, 3) is None
    one = f"{nodes.nodes[2].data_dir}/one"
    cordon(nodes, 2, one)
    assert state(nodes, 2) == "up", "another directory is left"
    assert is_told(nodes, "probe", taken=True)
    cordoned = {each["path"]: each["cordoned"] for each in run(nodes, "log-dirs")}
    assert [path for path, is_cordoned in cordoned.items() if is_cordoned] == [one]

    cordon(nodes, 2, "*")
    assert state(nodes, 2) == "cordoned"
    wait_until(lambda: is_told(nodes, "probe", taken=False))
    assert create(nodes, "elsewhere", 6, 2) is None
    assert holders(nodes, "elsewhere") == {1, 3}
    # What is there is written, and in sync.
    nodes.produce("before", ["goes on"], partition=1)
    nodes.wait_in_sync()

    # It is not forgotten, neither by another controller nor in the broker's next life.
    nodes.restart(nodes.controller())
    wait_until(lambda: is_told(nodes, "probe", taken=False))
    nodes.restart(2)
    nodes.wait_in_sync()
    wait_until(lambda: is_told(nodes, "probe", taken=False))
    cordon(nodes, 2, None)
    wait_until(lambda: is_told(nodes, "probe", taken=True))
    delete(nodes, "before", "elsewhere")


def test_a_drain_keeps_new_topics_away_until_it_is_undone(nodes: Cluster) -> None:
    assert create(nodes, "old", 6, 2) is None
    done = run(nodes, "brokers", "drain", "1", "--throttle", "none", "--yes")
    assert done["outcome"] == "done"
    assert state(nodes, 1) == "cordoned"
    assert holders(nodes, "old") == {2, 3}
    assert create(nodes, "new", 6, 2) is None
    assert holders(nodes, "new") == {2, 3}
    run(nodes, "brokers", "drain", "1", "--cancel")
    assert state(nodes, 1) == "up"
    assert create(nodes, "again", 6, 2) is None
    assert holders(nodes, "again") == {1, 2, 3}
    delete(nodes, "old", "new", "again")


def test_a_drain_that_comes_to_nothing_is_undone(nodes: Cluster) -> None:
    one = f"{nodes.nodes[1].data_dir}/one"
    cordon(nodes, 1, one)
    assert create(nodes, "large", 1, 2) is None
    run(nodes, "partitions", "move", "large:0", "--to", "1,2", "--yes", "--wait")
    nodes.produce("large", [b"x" * 10_000] * 200, partition=0)
    draining = begin(nodes, "brokers", "drain", "1", "--throttle", "1K", "--yes")
    wait_until(lambda: bool(run(nodes, "partitions", "moves")))
    assert state(nodes, 1) == "cordoned"
    run(nodes, "partitions", "cancel", "--all")
    _, err = draining.communicate(timeout=120)
    assert draining.returncode != 0 and "did not get there" in err
    assert state(nodes, 1) == "up"
    cordoned = {each["path"]: each["cordoned"] for each in run(nodes, "log-dirs")}
    assert [path for path, is_cordoned in cordoned.items() if is_cordoned] == [one]
    delete(nodes, "large")


def test_what_came_while_a_drain_was_planned_goes_too(
    nodes: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    mover = Mover(Link(Target(Place(nodes.bootstrap_servers))), None, as_json=False)
    admin = AdminClient({"bootstrap.servers": nodes.bootstrap_servers})
    late = NewTopic("late", num_partitions=1, replica_assignment=[[1, 2]])
    (made,) = admin.create_topics([late]).values()
    made.result(60)
    wait_until(lambda: holders(nodes, "late") == {1, 2})
    drain(mover, 1, yes=True, dry_run=False, wait=True)
    assert "late:0" in capsys.readouterr().out
    assert holders(nodes, "late") == {2, 3}
    delete(nodes, "late")


@pytest.mark.java
def test_kafkas_tools_set_it_and_see_it(nodes: Cluster) -> None:
    def tool(name: str, *words: str) -> str:
        where = ["--bootstrap-server", nodes.bootstrap_servers]
        done = shared_tool_host().run(name, [*where, *words])
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    broker = ("--entity-type", "brokers", "--entity-name", "3")
    tool("kafka-configs", *broker, "--alter", "--add-config", f"{CORDONED}=*")
    assert f"{CORDONED}=* " in tool("kafka-configs", *broker, "--describe")
    assert state(nodes, 3) == "cordoned"
    tool("kafka-configs", *broker, "--alter", "--delete-config", CORDONED)
    assert state(nodes, 3) == "up"
