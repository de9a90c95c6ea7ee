"""Apache Kafka's nodes and ours in one cluster, in each of the three ways: the short forms.

The other files of this folder have the long ones (`make clusters`).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mixed.mixed_kit import KafkaNode, Kind, MixedCluster, PenstockNode
from tests.mixed.story_kit import Story, compare_metadata_logs

pytestmark = [pytest.mark.java, pytest.mark.timeout(900)]

CLIENTS = 2
"""A classic group and one of the new protocol, and as many transactional ids."""


def test_kafkas_controller_with_brokers_of_both_kinds(tmp_path: Path) -> None:
    brokers: dict[int, Kind] = {2: KafkaNode, 3: PenstockNode, 4: PenstockNode}
    with (
        MixedCluster(tmp_path, {1: KafkaNode}, brokers) as cluster,
        Story(cluster, clients=CLIENTS).begun() as story,
    ):
        story.kill(2)
        story.bring_back(2)
        story.kill(3)
        story.bring_back(3)
        story.settle()


def test_our_controllers_with_a_broker_of_kafkas_among_ours(tmp_path: Path) -> None:
    controllers: dict[int, Kind] = {1: PenstockNode, 6: PenstockNode, 7: PenstockNode}
    brokers: dict[int, Kind] = {2: PenstockNode, 3: KafkaNode, 4: PenstockNode}
    with (
        MixedCluster(tmp_path, controllers, brokers) as cluster,
        Story(cluster, clients=CLIENTS).begun() as story,
    ):
        story.kill(3)
        active = story.active_controller()
        story.kill(active)
        story.bring_back(3)
        cluster.start(active)
        story.kill(2)
        story.bring_back(2)
        story.settle()


def test_voters_of_both_kinds(tmp_path: Path) -> None:
    """With one of three away, nothing is committed without both of the others."""
    controllers: dict[int, Kind] = {1: PenstockNode, 6: PenstockNode, 7: KafkaNode}
    brokers: dict[int, Kind] = {2: PenstockNode, 3: PenstockNode, 4: PenstockNode}
    with (
        MixedCluster(tmp_path, controllers, brokers) as cluster,
        Story(cluster, clients=CLIENTS).begun() as story,
    ):
        story.kill(1)
        story.kill(2)
        story.bring_back(2)
        cluster.start(1)
        story.kill(7)
        story.kill(3)
        cluster.start(7)
        story.bring_back(3)
        story.settle()
        compare_metadata_logs(cluster)
