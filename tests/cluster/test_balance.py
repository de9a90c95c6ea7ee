"""`penstock balance` on three nodes: planned, begun, gone on with, ended, and taken back."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator

import pytest

from penstock.testing.cluster import Cluster
from tests.cluster.command_kit import begin, run
from tests.patience import wait_until

RECORD = b"x" * 10_000
LONG = pytest.mark.skipif(not os.environ.get("PENSTOCK_CLUSTERS"), reason="`make clusters` runs it")


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    settings = {"offsets.topic.num.partitions": 1, "transaction.state.log.num.partitions": 1}
    with Cluster(tmp_path_factory.mktemp("balance") / "nodes", 3, settings) as started:
        yield started


def places(nodes: Cluster, topic: str) -> dict[int, list[int]]:
    (described,) = run(nodes, "topics", "describe", topic)
    return {each["partition"]: each["replicas"] for each in described["partitions"]}


def throttled(nodes: Cluster) -> bool:
    settings = [each["settings"] for each in run(nodes, "configs", "list")]
    return any("throttled" in key for each in settings for key in each)


def test_a_balance_is_planned_resumed_and_undone(nodes: Cluster) -> None:
    nodes.create_topic("orders", partitions=6, replication_factor=1)
    run(nodes, "partitions", "move", "orders", "--to", "1", "--yes", "--wait")
    for partition in range(6):
        nodes.produce("orders", [RECORD] * 20, partition=partition)
    before = {each: [1] for each in range(6)}
    assert places(nodes, "orders") == before

    plan = run(nodes, "balance", "plan")
    assert [each["bytes"] > 0 for each in plan["before"]] == [True, False, False]
    assert len(plan["moves"]) == 4
    after = [each["bytes"] for each in plan["after"]]
    assert max(after) - min(after) < len(RECORD), "alike, but for how records came in batches"
    assert places(nodes, "orders") == before, "a plan changes nothing"

    # So slow that it would not end; it is begun, and then whoever waits for it is killed.
    waiting = begin(nodes, "balance", "run", "--throttle", "1K", "--yes")
    wait_until(lambda: bool(run(nodes, "partitions", "moves")))
    waiting.send_signal(signal.SIGKILL)
    waiting.communicate(timeout=60)
    assert throttled(nodes)
    undone = run(nodes, "balance", "undo", "--throttle", "none", "--yes")
    assert undone["outcome"] in ("done", "nothing")
    assert places(nodes, "orders") == before
    assert not throttled(nodes)

    begun = run(nodes, "balance", "run", "--throttle", "1K", "--no-wait", "--yes")
    assert begun["outcome"] == "begun"
    gone_on = run(nodes, "balance", "run", "--throttle", "500M", "--yes")
    assert gone_on["moves"] == []
    assert gone_on["outcome"] == "done"
    now = places(nodes, "orders")
    assert sorted(brokers[0] for brokers in now.values()) == [1, 1, 2, 2, 3, 3]
    assert run(nodes, "balance", "plan")["moves"] == []
    assert not throttled(nodes)

    # Both calls were one balance.
    assert run(nodes, "balance", "undo", "--throttle", "none", "--yes")["outcome"] == "done"
    assert places(nodes, "orders") == before
    nothing = begin(nodes, "balance", "undo")
    _, said = nothing.communicate(timeout=60)
    assert "nothing to undo" in said


@LONG
def test_replicas_change_places_where_no_single_one_can_go(nodes: Cluster) -> None:
    """Each is larger than what its broker has too much."""
    run(nodes, "topics", "delete", "orders", "--if-exists")
    nodes.create_topic("swapped", partitions=6, replication_factor=1)
    before = places(nodes, "swapped")
    assert sorted(brokers[0] for brokers in before.values()) == [1, 1, 2, 2, 3, 3]
    records = {1: 60, 2: 40, 3: 50}
    for partition, (broker,) in before.items():
        nodes.produce("swapped", [RECORD] * records[broker], partition=partition)

    def held() -> dict[int, int]:
        """Records that can be read, by partition."""
        counted = "SELECT partition, count(*) AS n FROM swapped GROUP BY 1"
        started = begin(nodes, "sql", "--json", counted)
        out, err = started.communicate(timeout=120)
        assert started.returncode == 0, err
        rows = [json.loads(line) for line in out.splitlines()]
        return {row["partition"]: row["n"] for row in rows}

    whole = {partition: records[broker] for partition, (broker,) in before.items()}
    assert held() == whole
    moves = run(nodes, "balance", "plan")["moves"]
    assert sorted((each["from"], each["to"]) for each in moves) == [([1], [2]), ([2], [1])]
    assert run(nodes, "balance", "run", "--throttle", "500M", "--yes")["outcome"] == "done"
    after = places(nodes, "swapped")
    changed = {each for each in before if before[each] != after[each]}
    assert sorted(before[each][0] for each in changed) == [1, 2]
    assert sorted(brokers[0] for brokers in after.values()) == [1, 1, 2, 2, 3, 3]
    then = run(nodes, "balance", "plan")
    assert then["moves"] == []
    assert len({each["bytes"] // 100_000 for each in then["before"]}) == 1
    assert held() == whole
    assert run(nodes, "balance", "undo", "--throttle", "none", "--yes")["outcome"] == "done"
    assert places(nodes, "swapped") == before
    assert held() == whole


def test_a_hot_broker_and_what_to_do_about_it(nodes: Cluster) -> None:
    """All leaders are on one broker: the busiest partition is to go, or the preferred election."""
    nodes.create_topic("hot", partitions=4, replication_factor=2)
    nodes.wait_in_sync()
    for partition in range(4):
        run(nodes, "partitions", "move", f"hot:{partition}", "--to", "1,2", "--yes", "--wait")
    run(nodes, "leaders", "elect", "hot")
    looking = begin(nodes, "hot", "--seconds", "4", "-t", "hot", "--json")
    while looking.poll() is None:
        for partition in range(4):
            nodes.produce(
                "hot", [(b"k%d" % each, RECORD) for each in range(5)], partition=partition
            )
    out, err = looking.communicate(timeout=60)
    assert looking.returncode == 0, err
    found = json.loads(out)
    assert found["brokers"][0]["broker"] == 1
    assert found["brokers"][0]["times"] is None, "the others have nothing to do"
    (hot,) = [each for each in found["hot"] if each["kind"] == "broker"]
    moved = hot["remedies"][0]["do"]
    assert moved.startswith("penstock partitions move hot:")
    assert [len(each["keys"]) for each in found["keys"]] == [5, 5, 5, 5]
    # The command is one that can be run.
    words = moved.partition(" && ")[0].split()[1:]
    run(nodes, *words, "--yes")


def test_leaders_come_back_without_a_copy(nodes: Cluster) -> None:
    nodes.create_topic("led", partitions=3, replication_factor=3)
    nodes.wait_in_sync()
    run(nodes, "balance", "run", "--throttle", "none", "--yes")
    nodes.restart(2)
    nodes.wait_in_sync()
    plan = run(nodes, "balance", "plan")
    assert plan["moves"] == []
    if plan["elections"]:
        # Unless the controller has brought them back by itself meanwhile.
        run(nodes, "balance", "run", "--yes")
    then = run(nodes, "balance", "plan")
    assert then["elections"] == []
    assert then["before"] == then["after"]
