"""Apache Kafka's controllers, brokers of both kinds: ours registers, leads, follows and leaves."""

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


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MixedCluster]:
    brokers: dict[int, Kind] = {2: KafkaNode, 3: PenstockNode, 4: PenstockNode}
    folder = tmp_path_factory.mktemp("under-kafka")
    with MixedCluster(folder, {1: KafkaNode}, brokers) as started:
        yield started


def test_kafkas_tools_find_a_cluster_like_any_other(cluster: MixedCluster) -> None:
    tools = KafkaTools(cluster.bootstrap_servers)
    lines = [f"line {number}" for number in range(300)]
    tools.create("console", partitions=3, replicas=3)
    tools.produce("console", lines)
    assert sorted(tools.consume("console", "console-readers", len(lines))) == sorted(lines)
    none = {("console", index): 0 for index in range(3)}
    wait_until(
        lambda: tools.lag("console-readers") == none,
        lambda: f"a group that read it all lags by {tools.lag('console-readers')}",
    )
    wait_until(lambda: {3, 4} <= tools.observers(), "ours are no observers")
    assert tools.leaders("console") == {2, 3, 4}


def test_leaders_of_either_kind_die_and_nothing_is_lost(cluster: MixedCluster) -> None:
    kafkas, ours, ours_too = 2, 3, 4
    with Story(cluster).begun() as story:
        story.kill(kafkas)
        story.bring_back(kafkas)
        story.kill(ours)
        story.bring_back(ours)
        story.stop(ours_too)
        story.bring_back(ours_too)
        story.settle()


@pytest.mark.timeout(900 * max(ROUNDS, 1))
@pytest.mark.skipif(not ROUNDS, reason="PENSTOCK_MIXED_ROUNDS tells how many")
def test_many_deaths_under_three_controllers(tmp_path: Path) -> None:
    controllers: dict[int, Kind] = {1: KafkaNode, 6: KafkaNode, 7: KafkaNode}
    brokers: dict[int, Kind] = {2: KafkaNode, 3: PenstockNode, 4: KafkaNode, 5: PenstockNode}
    with MixedCluster(tmp_path, controllers, brokers) as four, Story(four).begun() as story:
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
