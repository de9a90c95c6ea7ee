"""`penstock metrics` and `penstock health`: alarms, a dashboard, a push, and probes."""

from __future__ import annotations

import json
import math
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from penstock.cli import probe
from penstock.cli.cluster import Cluster
from penstock.cli.monitoring.alarm import ALARMS, known_alarms
from penstock.cli.monitoring.dashboard import expressions
from penstock.cli.monitoring.family import declared, read_page
from penstock.cli.operator.state import ClusterState
from penstock.cli.profile import Target
from penstock.node.address import Address
from penstock.node.disk_gauge import DiskGrowth, seconds_to_full
from penstock.testing.port import free_port
from tests.node.node_kit import RunningNode, running
from tests.unit.cli.cluster_kit import brokers, partition
from tests.unit.cli.conftest import Command
from tools.generate_monitoring import DASHBOARD, RULES, files
from tools.promtool import promtool


@pytest.fixture
def node(tmp_path: Path) -> Any:
    with running(tmp_path / "data", metrics=Address("127.0.0.1", 0)) as started:
        yield started


def test_files_are_those_of_the_metrics(node: RunningNode) -> None:
    """After a change of the metrics: make generate."""
    families = declared(read_page(str(node.node.metrics_address)))
    names = [each.name for each in families]
    for path, text in files(families).items():
        assert path.read_text() == text, f"{path} is old"
    assert [each.name for each in known_alarms(names)] == [each.name for each in ALARMS]
    shown = [
        target["expr"]
        for panel in json.loads(DASHBOARD.read_text())["panels"]
        for target in panel.get("targets", ())
    ]
    assert sorted(shown) == sorted(each for one in families for each in expressions(one))


def test_alarms_need_their_metrics() -> None:
    found = known_alarms(["penstock_under_replicated_partitions", "penstock_flush_seconds"])
    assert [each.name for each in found] == ["UnderReplicatedPartitions", "FlushSlow"]


@pytest.fixture(scope="module")
def prometheus() -> str:
    found = promtool()
    if found is None:
        pytest.skip("no promtool: PROMTOOL names none, and apt-get has no prometheus")
    return found


def test_prometheus_takes_the_rules(prometheus: str) -> None:
    subprocess.run([prometheus, "check", "rules", str(RULES)], check=True)


SERIES = {
    'penstock_disk_total_bytes{instance="b",directory="/d"}': "100x60",
    'penstock_disk_usable_bytes{instance="b",directory="/d"}': "50x20 30x20 10x20",
    'penstock_disk_full_in_seconds{instance="b",directory="/d"}': "9000000x30 3600x30",
    'penstock_under_replicated_partitions{instance="b"}': "0x40 2x20",
}
"""A value a minute: a disk that is half full, then at 70 %, then at 90 %."""


FIRES = (
    (15, "DiskFilling", False),
    (35, "DiskFilling", True),
    (35, "DiskNearlyFull", False),
    (55, "DiskNearlyFull", True),
    (25, "DiskFullSoon", False),
    (50, "DiskFullSoon", True),
    (30, "UnderReplicatedPartitions", False),
    (45, "UnderReplicatedPartitions", True),
)


def test_alarms_go_off_in_prometheus(prometheus: str, tmp_path: Path) -> None:
    expected = [
        {
            "expr": f'count(ALERTS{{alertname="{alarm}",alertstate="firing"}})',
            "eval_time": f"{minute}m",
            "exp_samples": [{"labels": "{}", "value": 1}] if fires else [],
        }
        for minute, alarm, fires in FIRES
    ]
    case = {
        "interval": "1m",
        "input_series": [{"series": name, "values": each} for name, each in SERIES.items()],
        "promql_expr_test": expected,
    }
    file = tmp_path / "test.yml"
    file.write_text(json.dumps({"rule_files": [str(RULES)], "tests": [case]}))
    done = subprocess.run(
        [prometheus, "test", "rules", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_takes_the_page(prometheus: str, node: RunningNode) -> None:
    page = read_page(str(node.node.metrics_address))
    done = subprocess.run(
        [prometheus, "check", "metrics"], input=page, text=True, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_a_disks_growth_is_that_of_the_last_hour() -> None:
    growth = DiskGrowth()
    assert growth.update(0.0, 1000) == 0
    assert growth.update(10.0, 1100) == 10
    for minute in range(1, 121):
        # An hour at 1 byte a second, then an hour at 2.
        seconds = minute * 60
        rate = growth.update(seconds, 1000 + seconds + max(seconds - 3600, 0))
    assert rate == pytest.approx(2.0)
    assert seconds_to_full(100, rate) == pytest.approx(50.0)
    assert seconds_to_full(100, 0.0) == math.inf


def test_a_node_tells_of_its_disk(node: RunningNode) -> None:
    page = read_page(str(node.node.metrics_address))
    found = {
        line.partition("{")[0]: float(line.rpartition(" ")[2])
        for line in page.splitlines()
        if line.startswith("penstock_disk_")
    }
    assert 0 < found["penstock_disk_usable_bytes"] < found["penstock_disk_total_bytes"]
    assert found["penstock_disk_full_in_seconds"] > 0


class _Collector(BaseHTTPRequestHandler):
    got: list[tuple[str, Any]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        type(self).got.append((self.path, json.loads(body, parse_constant=pytest.fail)))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize("command", ["penstock"], indirect=True)
def test_metrics_are_pushed(node: RunningNode, command: Command) -> None:
    _Collector.got = []
    with HTTPServer(("127.0.0.1", 0), _Collector) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            where = f"http://127.0.0.1:{server.server_port}"
            command.run("metrics", "push", str(node.node.metrics_address), "--to", where, "--once")
        finally:
            server.shutdown()
            thread.join()
    ((path, body),) = _Collector.got
    assert path == "/v1/metrics"
    (scope,) = body["resourceMetrics"][0]["scopeMetrics"]
    found = {each["name"]: each for each in scope["metrics"]}
    assert found["penstock_bytes_in"]["sum"]["isMonotonic"] is True
    assert found["penstock_active_controller"]["gauge"]["dataPoints"][0]["asDouble"] == 1
    (flush,) = found["penstock_flush_seconds"]["histogram"]["dataPoints"]
    assert len(flush["bucketCounts"]) == len(flush["explicitBounds"]) + 1
    assert sum(map(int, flush["bucketCounts"])) == int(flush["count"])
    nobody = f"http://127.0.0.1:{free_port()}"
    said = command.fail("metrics", "push", str(node.node.metrics_address), "--to", nobody, "--once")
    assert said.startswith(f"no collector answers at {nobody}/v1/metrics")
    for wrong in ("collector:4318", "http://"):
        said = command.fail("metrics", "push", "127.0.0.1:1", "--to", wrong, code=2)
        assert said.startswith("--to takes a URL such as http://collector:4318")


def test_a_broker_is_well(command: Command) -> None:
    for check in ("live", "ready", "in-sync"):
        found = command.run("health", check, "--json").json
        assert found["healthy"], found
        assert found["check"] == check


@pytest.mark.parametrize("command", ["penstock"], indirect=True)
def test_a_replica_lacks(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = partition("orders:0", [1, 2], isr=[1])
    state = ClusterState(brokers({1: None, 2: None}), {lacking.place: lacking})
    monkeypatch.setattr(probe, "read_state_at", lambda *_: state)
    asked = probe.Probe(Cluster(Target(command.servers)))
    assert asked.find("ready").healthy
    found = asked.find("in-sync")
    assert (found.healthy, found.said) == (False, "not all replicas are in sync: orders:0")


def test_nobody_is_there(nowhere: Command) -> None:
    answer = nowhere.try_run("health", "live", "--timeout", "5")
    assert answer.code == 1
    assert answer.lines[0].startswith("the broker at 127.0.0.1:1 did not answer")
