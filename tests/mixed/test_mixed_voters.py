"""Voters of both kinds: one metadata log, led by either, replayed by the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mixed.mixed_kit import KafkaNode, Kind, MixedCluster, PenstockNode
from tests.mixed.story_kit import Story, compare_metadata_logs

pytestmark = pytest.mark.java

VOTERS: dict[int, Kind] = {1: PenstockNode, 6: PenstockNode, 7: KafkaNode}
BROKERS: dict[int, Kind] = {2: PenstockNode, 3: PenstockNode, 4: PenstockNode}
KAFKAS = 7
ATTEMPTS = 6


def kill_until_led_by(story: Story, kafka: bool) -> None:
    """Which of the others follows a leader is theirs to decide."""
    for _ in range(ATTEMPTS):
        active = story.active_controller()
        if (active == KAFKAS) == kafka:
            return
        story.kill(active)
        story.cluster.start(active)
    raise AssertionError("always led by the same kind")


@pytest.mark.parametrize("static", [True, False], ids=["static", "dynamic"])
def test_leadership_goes_from_one_kind_to_the_other_and_back(tmp_path: Path, static: bool) -> None:
    with (
        MixedCluster(tmp_path, VOTERS, BROKERS, static=static) as cluster,
        Story(cluster).begun() as story,
    ):
        kill_until_led_by(story, kafka=True)
        story.kill(2)
        story.bring_back(2)
        kill_until_led_by(story, kafka=False)
        story.kill(3)
        story.bring_back(3)
        story.settle()
        compare_metadata_logs(cluster)
