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
    (broker,) = json.loads(said.splitlines()[-1])["brokers"]
    segment = cluster.data_dir / f"{topic}-0" / f"{0:020}.log"
    place = {"partition": f"{topic}-0", "offsetLag": 0, "isFuture": False}
    assert broker["broker"] == cluster.broker_id
    assert broker["logDirs"] == [
        {
            "partitions": [place | {"size": segment.stat().st_size}],
            "error": None,
            "logDir": str(cluster.data_dir),
        }
    ]


@pytest.mark.feature("describe --status and --replication")
@pytest.mark.client("kafka-metadata-quorum")
def test_metadata_quorum(tool: Tool, cluster: Cluster) -> None:
    said = tool("kafka-metadata-quorum", "describe", "--status")
    status = dict(re.findall(r"^(\w+):\s+(.*)$", said, re.MULTILINE))
    assert len(status["ClusterId"]) == 22
    assert status["LeaderId"] == str(cluster.broker_id)
    assert int(status["LeaderEpoch"]) >= 1 and int(status["HighWatermark"]) > 0
    assert (status["MaxFollowerLag"], status["CurrentObservers"]) == ("0", "[]")
    assert f'"id": {cluster.broker_id}' in status["CurrentVoters"]
    _, row = tool("kafka-metadata-quorum", "describe", "--replication").splitlines()
    columns = row.split()
    assert (columns[0], columns[3], columns[-1]) == (str(cluster.broker_id), "0", "Leader")


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
    assert said.startswith(f"{cluster.bootstrap_servers} (id: {cluster.broker_id} rack: null")
    for line in ("Produce(0): 0 to 13", "Fetch(1): 4 to 18", "Metadata(3): 0 to 13"):
        assert line in said


@pytest.mark.feature("list-endpoints")
@pytest.mark.client("kafka-cluster")
def test_cluster(cluster: Cluster) -> None:
    where = ["--bootstrap-server", cluster.bootstrap_servers]
    done = shared_tool_host().run("kafka-cluster", ["list-endpoints", *where])
    host, port = cluster.bootstrap_servers.split(":")
    assert done.stdout.splitlines()[1].split()[:3] == [str(cluster.broker_id), host, port]
