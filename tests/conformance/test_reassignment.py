"""Where replicas are, and asking for them to be elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from penstock.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from penstock.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from tests.conformance.clients.raw import Connection
from tests.conformance.conftest import Cluster
from tests.patience import wait_until

NO_SUCH_BROKER = 4711
MISSING = "no-such-topic"


def reassign(
    connection: Connection, topic: str, replicas: list[int] | None, partition: int = 0
) -> tuple[int, str | None]:
    wanted = ReassignablePartition(partition_index=partition, replicas=replicas)
    request = AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name=topic, partitions=[wanted])]
    )
    answer = connection.call(request, 1)
    assert answer.error_code == ErrorCode.NONE
    (told,) = answer.responses[0].partitions
    return told.error_code, told.error_message


@pytest.mark.feature("Reassign to where a partition is, and to brokers there are not")
@pytest.mark.client("raw requests")
def test_reassign(connection: Connection, cluster: Cluster, topic: str) -> None:
    here = cluster.broker_ids
    invalid = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    prefix = "The manual partition assignment includes"
    assert reassign(connection, topic, here) == (ErrorCode.NONE, None)
    assert reassign(connection, topic, []) == (invalid, f"{prefix} an empty replica list.")
    assert reassign(connection, topic, [*here, NO_SUCH_BROKER]) == (
        invalid,
        f"{prefix} broker {NO_SUCH_BROKER}, but no such broker is registered.",
    )
    assert reassign(connection, topic, [here[0], here[0]]) == (
        invalid,
        f"{prefix} the broker {here[0]} more than once.",
    )


@pytest.mark.feature("Call off a reassignment that is not under way (NO_REASSIGNMENT_IN_PROGRESS)")
@pytest.mark.client("raw requests")
def test_call_off(connection: Connection, topic: str) -> None:
    assert reassign(connection, topic, None) == (ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, None)


@pytest.mark.feature("Reassign what there is not (UNKNOWN_TOPIC_OR_PARTITION)")
@pytest.mark.client("raw requests")
def test_reassign_missing(connection: Connection, cluster: Cluster, topic: str) -> None:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    here = [cluster.broker_id]
    assert reassign(connection, MISSING, here) == (
        unknown,
        f"Unable to find a topic named {MISSING}.",
    )
    assert reassign(connection, topic, here, partition=9) == (
        unknown,
        f"Unable to find partition {topic}:9.",
    )


@pytest.mark.feature("List reassignments under way: none")
@pytest.mark.client("raw requests")
def test_list(connection: Connection, topic: str) -> None:
    named = [
        ListPartitionReassignmentsTopics(name=name, partition_indexes=[0, 9])
        for name in (topic, MISSING)
    ]
    for topics in (None, [], named):
        answer = connection.call(ListPartitionReassignmentsRequest(topics=topics), 0)
        assert (answer.error_code, list(answer.topics)) == (ErrorCode.NONE, [])


@pytest.mark.feature("Move a replica to the log directory it is in, and to one there is not")
@pytest.mark.client("raw requests")
def test_log_directory(connection: Connection, cluster: Cluster, topic: str) -> None:
    def move(path: str, name: str, partition: int = 0) -> int:
        wanted = AlterReplicaLogDirTopic(name=name, partitions=[partition])
        request = AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=[wanted])])
        (told,) = connection.call(request, 2).results[0].partitions
        return int(told.error_code)

    here = str(cluster.data_dir)
    assert move(here, topic) == ErrorCode.NONE
    assert move(here, topic, 9) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert move(here, MISSING) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert move("/no/such/directory", topic) == ErrorCode.LOG_DIR_NOT_FOUND
    assert move(f"{here}/", topic) == ErrorCode.LOG_DIR_NOT_FOUND
    # With a copy in mind, whose directory has a longer name.
    assert move("/no/such/directory", "x" * 214) == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert move(here, "x" * 213) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.java
@pytest.mark.feature("--generate, --execute, --verify, --list")
@pytest.mark.client("kafka-reassign-partitions")
def test_tool(tool: Callable[..., str], cluster: Cluster, topic: str, tmp_path: Path) -> None:
    topics, plan = tmp_path / "topics.json", tmp_path / "plan.json"
    topics.write_text(json.dumps({"version": 1, "topics": [{"topic": topic}]}))
    brokers = ",".join(map(str, cluster.broker_ids))
    name = "kafka-reassign-partitions"
    said = tool(
        name, "--generate", "--topics-to-move-json-file", str(topics), "--broker-list", brokers
    )
    proposed = said.splitlines()[-1]
    assert sorted(json.loads(proposed)["partitions"][0]["replicas"]) == cluster.broker_ids
    plan.write_text(proposed)
    done = tool(name, "--execute", "--reassignment-json-file", str(plan))
    assert f"Successfully started partition reassignment for {topic}-0" in done
    verify = (name, "--verify", "--reassignment-json-file", str(plan))
    # The broker that is asked may hear of it later than the controller.
    wait_until(lambda: f"Reassignment of partition {topic}-0 is completed." in tool(*verify))
    assert "No partition reassignments found." in tool(name, "--list")
