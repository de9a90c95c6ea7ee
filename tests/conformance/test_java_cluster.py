"""Kafka's command line tools: the cluster."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from tests.conformance.clients.confluent import ConfluentClient
from tests.conformance.clients.record import numbered
from tests.conformance.conftest import Cluster
from tools.tool_host import shared_tool_host

pytestmark = pytest.mark.java
Tool = Callable[..., str]


@pytest.mark.feature("--describe: size and place of each partition")
@pytest.mark.client("kafka-log-dirs")
def test_log_dirs(tool: Tool, cluster: Cluster, topic: str) -> None:
    ConfluentClient(cluster.bootstrap_servers).produce(topic, numbered(10))
    said = tool("kafka-log-dirs", "--describe", "--topic-list", topic)
    brokers = json.loads(said.splitlines()[-1])["brokers"]
    assert sorted(each["broker"] for each in brokers) == cluster.broker_ids
    place = {"partition": f"{topic}-0", "offsetLag": 0, "isFuture": False}
    for broker in brokers:
        home = cluster.data_dir_of(broker["broker"])
        size = (home / f"{topic}-0" / f"{0:020}.log").stat().st_size
        partitions = [place | {"size": size}]
        assert size > 0
        assert broker["logDirs"] == [{"partitions": partitions, "error": None, "logDir": str(home)}]


@pytest.mark.feature("describe --status and --replication")
@pytest.mark.client("kafka-metadata-quorum")
def test_metadata_quorum(tool: Tool, cluster: Cluster) -> None:
    said = tool("kafka-metadata-quorum", "describe", "--status")
    status = dict(re.findall(r"^(\w+):\s+(.*)$", said, re.MULTILINE))
    assert len(status["ClusterId"]) == 22
    assert int(status["LeaderId"]) in cluster.broker_ids
    assert int(status["LeaderEpoch"]) >= 1 and int(status["HighWatermark"]) > 0
    assert status["CurrentObservers"] == "[]"
    for each in cluster.broker_ids:
        assert f'"id": {each}' in status["CurrentVoters"]
    _, *rows = tool("kafka-metadata-quorum", "describe", "--replication").splitlines()
    columns = [row.split() for row in rows]
    assert sorted(int(each[0]) for each in columns) == cluster.broker_ids
    (leader,) = (each for each in columns if each[-1] == "Leader")
    assert (leader[0], leader[3]) == (status["LeaderId"], "0")
    assert {each[-1] for each in columns if each != leader} <= {"Follower"}


@pytest.mark.feature("Preferred leaders lead already")
@pytest.mark.client("kafka-leader-election")
def test_leader_election(tool: Tool, topic: str) -> None:
    preferred = ["--election-type", "preferred"]
    said = tool("kafka-leader-election", *preferred, "--topic", topic, "--partition", "0")
    assert f"Valid replica already elected for partitions {topic}-0" in said
    tool("kafka-leader-election", *preferred, "--all-topic-partitions")


@pytest.mark.feature("Versions of every API")
@pytest.mark.client("kafka-broker-api-versions")
def test_broker_api_versions(tool: Tool, cluster: Cluster) -> None:
    said = tool("kafka-broker-api-versions")
    for number, (host, port) in cluster.addresses.items():
        assert f"{host}:{port} (id: {number} rack: null" in said
    for line in ("Produce(0): 0 to 13", "Fetch(1): 4 to 18", "Metadata(3): 0 to 13"):
        assert line in said


@pytest.mark.feature("list-endpoints")
@pytest.mark.client("kafka-cluster")
def test_cluster(cluster: Cluster) -> None:
    where = ["--bootstrap-server", cluster.bootstrap_servers]
    done = shared_tool_host().run("kafka-cluster", ["list-endpoints", *where])
    told = [line.split()[:3] for line in done.stdout.splitlines()[1:]]
    assert sorted(told) == [
        [str(number), host, str(port)] for number, (host, port) in sorted(cluster.addresses.items())
    ]
