"""Directories of a node that take no new replicas, while it serves what is there (KIP-1066)."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.node.node_kit import RunningNode, running
from tests.node.test_replica_moves import (
    RATE,
    SLOW,
    alter,
    create,
    fill,
    home_of,
    homes,
    is_moved,
    settings,
    write,
)
from tests.node.wire_kit import Wire
from tests.patience import wait_until

CORDONED = "cordoned.log.dirs"
SET, DELETE, APPEND, SUBTRACT = range(4)


def change(
    wire: Wire, node: RunningNode, operation: int, value: str | None = None, name: str = CORDONED
) -> tuple[ErrorCode, str | None]:
    altered = AlterableConfig(name=name, config_operation=operation, value=value)
    broker = str(node.node.identity.node_id)
    resource = AlterConfigsResource(resource_type=4, resource_name=broker, configs=[altered])
    answer = wire.call(IncrementalAlterConfigsRequest(resources=[resource]), 1).responses[0]
    return ErrorCode(answer.error_code), answer.error_message


def cordoned(wire: Wire) -> dict[str, bool]:
    answer = wire.call(DescribeLogDirsRequest(topics=None), 5)
    return {Path(each.log_dir).name: each.is_cordoned for each in answer.results}


def creation(wire: Wire, topic: str) -> ErrorCode:
    made = CreatableTopic(name=topic, num_partitions=1, replication_factor=1)
    return ErrorCode(wire.call(CreateTopicsRequest(topics=[made]), 7).topics[0].error_code)


def growth(wire: Wire, topic: str, count: int) -> ErrorCode:
    wanted = CreatePartitionsTopic(name=topic, count=count, assignments=None)
    answer = wire.call(CreatePartitionsRequest(topics=[wanted]), 3)
    return ErrorCode(answer.results[0].error_code)


def held(home: Path, topic: str) -> int:
    return len(list(home.glob(f"{topic}-*")))


def test_new_partitions_go_elsewhere_and_nowhere_once_all_are_cordoned(tmp_path: Path) -> None:
    first, second = homes(tmp_path)
    with running(tmp_path, settings=settings(tmp_path)) as node, Wire(node.address) as wire:
        assert cordoned(wire) == {"a": False, "b": False}
        create(wire, "before", partitions=2)
        assert (held(first, "before"), held(second, "before")) == (1, 1)
        assert change(wire, node, SET, str(first)) == (ErrorCode.NONE, None)
        assert cordoned(wire) == {"a": True, "b": False}
        create(wire, "t", partitions=4)
        assert (held(first, "t"), held(second, "t")) == (0, 4)

        assert change(wire, node, SET, "*") == (ErrorCode.NONE, None)
        assert cordoned(wire) == {"a": True, "b": True}
        assert creation(wire, "u") == ErrorCode.INVALID_REPLICATION_FACTOR
        assert growth(wire, "t", 5) == ErrorCode.INVALID_REPLICATION_FACTOR
        assert write(wire, b"goes on", topic="before") == 0
    # A restart changes nothing.
    with running(tmp_path, settings=settings(tmp_path)) as node, Wire(node.address) as wire:
        assert cordoned(wire) == {"a": True, "b": True}
        assert creation(wire, "u") == ErrorCode.INVALID_REPLICATION_FACTOR
        assert change(wire, node, DELETE) == (ErrorCode.NONE, None)
        assert creation(wire, "u") == ErrorCode.NONE
        assert growth(wire, "t", 5) == ErrorCode.NONE
        assert cordoned(wire) == {"a": False, "b": False}


def test_what_comes_behind_the_change_knows_of_it(tmp_path: Path) -> None:
    with running(tmp_path) as node, Wire(node.address) as wire:
        name = str(node.node.identity.node_id)
        for value, expected in (("*", ErrorCode.INVALID_REPLICATION_FACTOR), ("", ErrorCode.NONE)):
            altered = AlterableConfig(name=CORDONED, config_operation=SET, value=value)
            resource = AlterConfigsResource(resource_type=4, resource_name=name, configs=[altered])
            wire.send(IncrementalAlterConfigsRequest(resources=[resource]), 1)
            made = CreatableTopic(name="t", num_partitions=1, replication_factor=1)
            wire.send(CreateTopicsRequest(topics=[made]), 7)
            assert wire.receive().responses[0].error_code == ErrorCode.NONE
            assert wire.receive().topics[0].error_code == expected


def test_the_file_may_say_it_and_a_change_outweighs_it(tmp_path: Path) -> None:
    said = settings(tmp_path, **{CORDONED: "*"})
    with running(tmp_path, settings=said) as node, Wire(node.address) as wire:
        assert cordoned(wire) == {"a": True, "b": True}
        assert creation(wire, "t") == ErrorCode.INVALID_REPLICATION_FACTOR
        assert change(wire, node, SET, "") == (ErrorCode.NONE, None)
        assert creation(wire, "t") == ErrorCode.NONE


def test_only_directories_of_the_node_are_taken(tmp_path: Path) -> None:
    first, second = homes(tmp_path)
    with running(tmp_path, settings=settings(tmp_path)) as node, Wire(node.address) as wire:
        for value in ("/nowhere", f"{first},/nowhere", f"*,{first}"):
            code, message = change(wire, node, SET, value)
            assert code == ErrorCode.INVALID_REQUEST and CORDONED in str(message)
        assert cordoned(wire) == {"a": False, "b": False}
        assert change(wire, node, APPEND, "/nowhere")[0] == ErrorCode.INVALID_REQUEST
        assert change(wire, node, APPEND, str(first))[0] == ErrorCode.NONE
        assert change(wire, node, APPEND, str(second))[0] == ErrorCode.NONE
        assert cordoned(wire) == {"a": True, "b": True}
        assert change(wire, node, APPEND, "*")[0] == ErrorCode.INVALID_REQUEST
        assert change(wire, node, SUBTRACT, str(first))[0] == ErrorCode.NONE
        assert cordoned(wire) == {"a": False, "b": True}


@pytest.mark.parametrize("restarted", [False, True])
def test_replicas_do_not_move_there_but_a_move_goes_on(tmp_path: Path, restarted: bool) -> None:
    said = settings(tmp_path, **SLOW)
    with running(tmp_path, settings=said) as node, Wire(node.address) as wire:
        create(wire)
        fill(wire, 20)
        _, other = home_of(tmp_path)
        assert change(wire, node, SET, str(other))[0] == ErrorCode.NONE
        assert alter(wire, other) == ErrorCode.INVALID_REPLICA_ASSIGNMENT
        assert alter(wire, other, "not-here-yet") == ErrorCode.INVALID_REPLICA_ASSIGNMENT
        assert change(wire, node, DELETE)[0] == ErrorCode.NONE
        assert alter(wire, other) == ErrorCode.NONE
        assert change(wire, node, SET, str(other))[0] == ErrorCode.NONE
        if not restarted:
            assert change(wire, node, SET, "1000000000", RATE)[0] == ErrorCode.NONE
            wait_until(lambda: is_moved(wire, other))
    if restarted:
        with running(tmp_path, settings=settings(tmp_path)) as node, Wire(node.address) as wire:
            assert cordoned(wire)[other.name]
            wait_until(lambda: is_moved(wire, other))
