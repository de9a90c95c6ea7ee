"""Our controllers, and a broker of Apache Kafka's among ours."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mixed.mixed_kit import KafkaNode, Kind, MixedCluster, PenstockNode
from tests.mixed.story_kit import Story
from tests.mixed.tool_kit import KafkaTools
from tests.patience import wait_until

pytestmark = pytest.mark.java

ROUNDS = int(os.environ.get("PENSTOCK_MIXED_ROUNDS", "0"))
"""Of the long forms, which are left out without it."""

CONTROLLERS: dict[int, Kind] = {1: PenstockNode, 6: PenstockNode, 7: PenstockNode}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MixedCluster]:
    brokers: dict[int, Kind] = {2: PenstockNode, 3: KafkaNode, 4: PenstockNode}
    folder = tmp_path_factory.mktemp("among-ours")
    with MixedCluster(folder, CONTROLLERS, brokers) as started:
        yield started


def test_what_a_client_asks_of_kafkas_broker_is_decided_by_our_controller(
    cluster: MixedCluster,
) -> None:
    tools = KafkaTools(cluster.brokers[3].bootstrap_servers)
    lines = [f"line {number}" for number in range(300)]
    tools.create("console", partitions=3, replicas=3)
    tools.produce("console", lines)
    assert sorted(tools.consume("console", "console-readers", len(lines))) == sorted(lines)
    none = {("console", index): 0 for index in range(3)}
    wait_until(lambda: tools.lag("console-readers") == none, "lag of a group that read it all")
    wait_until(lambda: {2, 3, 4} <= tools.observers(), "not all are observers")
    assert tools.leaders("console") == {2, 3, 4}


def test_leaders_of_either_kind_and_the_controller_die_and_nothing_is_lost(
    cluster: MixedCluster,
) -> None:
    ours, kafkas = 2, 3
    with Story(cluster).begun() as story:
        story.kill(kafkas)
        story.bring_back(kafkas)
        active = story.active_controller()
        story.kill(active)
        story.kill(ours)
        cluster.start(active)
        story.bring_back(ours)
        story.stop(kafkas)
        story.bring_back(kafkas)
        story.settle()


@pytest.mark.timeout(900 * max(ROUNDS, 1))
@pytest.mark.skipif(not ROUNDS, reason="PENSTOCK_MIXED_ROUNDS tells how many")
def test_many_deaths(tmp_path: Path) -> None:
    brokers: dict[int, Kind] = {2: PenstockNode, 3: KafkaNode, 4: PenstockNode, 5: KafkaNode}
    with MixedCluster(tmp_path, CONTROLLERS, brokers) as four, Story(four).begun() as story:
        for _ in range(ROUNDS):
            for number in story.ids:
                story.kill(number)
                story.bring_back(number)
            active = story.active_controller()
            story.kill(active)
            story.cluster.start(active)
            for number in story.ids:
                story.stop(number)
                story.bring_back(number)
        story.settle()
