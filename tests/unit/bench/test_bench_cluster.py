"""The benchmark of clusters: its turns, its warm-up, its bars and its page."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bench.cluster import peer as clusters
from bench.cluster import schedule
from bench.cluster.metric import METRICS
from bench.cluster.node import CommandNode, FullHeapKafkaNode, KafkaCluster, PenstockCluster
from bench.cluster.peer import NODES, ClusterPeer, WholeCluster
from bench.cluster.scale import QUICK
from bench.cluster.schedule import ALL, Case, Schedule
from bench.cluster.sheet import CLUSTER
from bench.cluster.warm_up import TURNS_MAX, repeat_while_faster
from bench.peer import KAFKA, PENSTOCK, PENSTOCK_FSYNC, topic_settings
from bench.report import as_page, rows
from bench.schedule import Results
from tools.apache_kafka import BROKER_HEAP

SCALE = replace(QUICK, settle_seconds=0.0)


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What would have run, in its order, without any cluster."""
    seen: list[str] = []

    @contextmanager
    def peers(names: Sequence[str], scratch: Path | None) -> Iterator[list[ClusterPeer]]:
        seen.append(f"start {names[0]}")
        whole = WholeCluster(PenstockCluster(tmp_path / names[0], NODES))
        yield [ClusterPeer(name, whole, topic_settings(name), NODES) for name in names]
        seen.append(f"end {names[0]}")

    def measure(peer: ClusterPeer, _: object) -> dict[str, float]:
        seen.append(f"measure {peer.name}")
        if peer.name == PENSTOCK:
            raise RuntimeError("no such luck")
        return {"latency.ack.p50": 1.0}

    cases = (
        Case("memory", "idle", measure, (KAFKA,)),
        Case("latency", "ack", measure, is_warm=True),
        Case("latency", "ack again", measure, (KAFKA,), is_warm=True),
        Case("failover", "failover", measure, (KAFKA, PENSTOCK_FSYNC), kafka_once=True),
    )
    monkeypatch.setattr(clusters, "peers", peers)
    monkeypatch.setattr(schedule, "CASES", cases)
    monkeypatch.setattr(schedule, "warm_up", lambda peer, *_: seen.append(f"warm {peer.name}"))
    monkeypatch.setattr(schedule.memory, "reset_peaks", lambda _: None)
    return seen


def run(groups: Sequence[str], rounds: int, names: Sequence[str] = ALL) -> Results:
    return Schedule(names, groups, rounds, SCALE, None, lambda _: None).run()


def test_the_clusters_take_turns_and_never_meet(turns: list[str]) -> None:
    run(["memory", "latency"], rounds=2)
    one_round = [
        "start kafka",
        "measure kafka",
        "warm kafka",
        "measure kafka",
        "measure kafka",
        "end kafka",
        "start penstock",
        "warm penstock",
        "measure penstock",
        "measure penstock-fsync",
        "end penstock",
    ]
    assert turns == 2 * one_round


def test_only_what_is_wanted_runs(turns: list[str]) -> None:
    run(["memory"], rounds=1, names=[KAFKA])
    assert turns == ["start kafka", "measure kafka", "end kafka"]


def test_what_kafka_need_not_repeat_is_not_repeated(turns: list[str]) -> None:
    run(["failover"], rounds=2)
    kafka = ["start kafka", "measure kafka", "end kafka"]
    penstock = ["start penstock", "measure penstock-fsync", "end penstock"]
    assert turns == [*kafka, *penstock, *penstock]


def test_what_fails_is_noted_and_the_rest_goes_on(turns: list[str]) -> None:
    results = run(["latency"], rounds=2)
    assert results.values["latency.ack.p50"] == {KAFKA: [1.0] * 4, PENSTOCK_FSYNC: [1.0] * 2}
    assert results.failures == [
        f"ack, penstock, round {number}/2: no such luck" for number in (1, 2)
    ]


@pytest.mark.parametrize(
    ("rates", "used"),
    [
        ([100, 200, 300, 310, 999], 4),
        ([100, 90, 999], 2),
        ([100, 200, 150, 999], 3),
        ([10**turn for turn in range(20)], TURNS_MAX),
    ],
)
def test_a_warm_up_ends_when_it_gets_no_faster(rates: list[float], used: int) -> None:
    left = iter(rates)
    assert repeat_while_faster(lambda: next(left)) == rates[:used]


def test_the_ratio_of_a_row_has_the_spread_of_its_rounds() -> None:
    results = Results()
    for kafka, penstock in ((100.0, 150.0), (100.0, 200.0), (200.0, 360.0)):
        results.add(KAFKA, {"produce.librdkafka.1024": kafka, "memory.load": kafka})
        results.add(PENSTOCK, {"produce.librdkafka.1024": penstock, "memory.load": penstock})
    rate, memory = (row for row in rows(results, METRICS) if row.peer == PENSTOCK)
    assert rate.spread == (1.5, 2.0)
    assert rate.ratio_text == "2.00 (1.50-2.00)"
    assert memory.spread is None


def test_the_page_holds_each_figure_against_its_bar() -> None:
    results = Results()
    results.add(KAFKA, {"latency.ack.p50": 1.0, "silence.pause": 14.0, "memory.idle": 380.0})
    results.add(PENSTOCK, {"latency.ack.p50": 0.6, "memory.idle": 39.0})
    results.add(PENSTOCK_FSYNC, {"latency.ack.p50": 1.2, "silence.pause": 10.0})
    page = as_page(results, {}, {"rounds": 3}, CLUSTER)
    assert page.startswith("# Benchmarks of a cluster\n")
    assert "| 0.6 ms | 0.60 | at most 0.5 × Kafka | **missed** |" in page
    assert "| 39 MB | 0.10 | at most 45 MB | met |" in page
    assert "| 1.2 ms | 1.20 |  |  |" in page
    assert "| 10 s | 0.71 | at most 1 × Kafka | met |" in page
    assert "2 of 3 bars met." in page


def test_kafka_gets_the_heap_of_its_own_script(tmp_path: Path) -> None:
    node = KafkaCluster(tmp_path, NODES).nodes[2]
    assert isinstance(node, FullHeapKafkaNode)
    assert set(BROKER_HEAP) <= set(node.kafka._jvm)


def test_a_node_is_started_by_its_command_and_its_file_alone(tmp_path: Path) -> None:
    node = PenstockCluster(tmp_path, NODES).nodes[2]
    assert isinstance(node, CommandNode)
    said = tmp_path / "said"
    script = f"import pathlib, sys; pathlib.Path({str(said)!r}).write_text(' '.join(sys.argv[1:]))"
    node.command = [sys.executable, "-c", script]
    assert not node.running
    node.launch()
    deadline = time.monotonic() + 60
    while node.running:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert said.read_text() == f"start --config {node.config_file}"
    node.stop()
