"""What a regular expression comes to is what its members may know of, whoever has it looked up."""

from __future__ import annotations

from penstock.group import Caller, GroupConfig, Topic
from penstock.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from tests.transcripts.group_script import subscription
from tests.transcripts.group_world import GroupWorld


def test_a_classic_member_has_no_more_matched_than_it_may_know_of() -> None:
    world = GroupWorld(GroupConfig())
    _create(world, "open", "secret")
    caller = Caller(1, "client", "/host", may_describe=lambda name: not name.startswith("secret"))
    _join_with_regex(world, caller)
    _create(world, "opened", "secret too")
    world.now_ms += 20_000

    _join_as_classic(world, caller._replace(api_version=9))

    group = world.shard.consumers.find("g")
    assert group is not None
    assert group.matched[".*"].topics == {"open", "opened"}


def _create(world: GroupWorld, *names: str) -> None:
    for name in names:
        topic_id = bytes([len(world.topics.topics) + 1]) * 16
        world.topics.topics[name] = Topic(topic_id, 1)
    world.take(world.shard.decide_topics_changed(set(names)))


def _join_with_regex(world: GroupWorld, caller: Caller) -> None:
    request = ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id="m",
        member_epoch=0,
        rebalance_timeout_ms=60_000,
        subscribed_topic_regex=".*",
        topic_partitions=[],
    )
    world.take(world.shard.consumer.decide_heartbeat(request, caller, world.now_ms))


def _join_as_classic(world: GroupWorld, caller: Caller) -> None:
    request = JoinGroupRequest(
        group_id="g",
        group_instance_id="i",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=30_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=subscription("open"))],
    )
    world.take(world.shard.classic.decide_join(request, caller, world.now_ms))
