"""Random histories of requests: what the log tells is what was lived."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.controller import ControllerConfig, ControllerShard
from penstock.metadata import image_records
from penstock.model.error import ApiError
from penstock.protocol.messages import incremental_alter_configs as incremental
from penstock.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from penstock.protocol.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from penstock.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from penstock.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from penstock.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from penstock.protocol.record_frame import decode_metadata_record, encode_metadata_record
from tests.unit.controller.controller_kit import Controller, replay

Decide = Callable[[ControllerShard], Any]

NAMES = st.sampled_from(["a", "b", "a.b", "a_b", "no good", "", "c"])
BROKERS = st.integers(0, 4)
CONFIGS = st.lists(
    st.tuples(
        st.sampled_from(["retention.ms", "cleanup.policy", "min.insync.replicas", "bogus"]),
        st.sampled_from(["1", "2", "delete", "compact", "", "x", None]),
    ),
    max_size=3,
)


@st.composite
def creations(draw: st.DrawFn) -> Decide:
    topics = []
    for name in draw(st.lists(NAMES, min_size=1, max_size=3)):
        assigned = draw(st.lists(st.lists(BROKERS, max_size=3), max_size=2))
        topics.append(
            CreatableTopic(
                name=name,
                num_partitions=-1 if assigned else draw(st.integers(-2, 14)),
                replication_factor=-1 if assigned else draw(st.integers(-2, 4)),
                assignments=[
                    CreatableReplicaAssignment(partition_index=at, broker_ids=ids)
                    for at, ids in enumerate(assigned)
                ],
                configs=[CreatableTopicConfig(name=k, value=v) for k, v in draw(CONFIGS)],
            )
        )
    request = CreateTopicsRequest(topics=topics, validate_only=draw(st.integers(0, 9)) == 0)
    return lambda shard: shard.decide_create_topics(request)


@st.composite
def deletions(draw: st.DrawFn) -> Decide:
    names = draw(st.lists(NAMES, min_size=1, max_size=3))
    by_id = draw(st.booleans())

    def decide(shard: ControllerShard) -> Any:
        states = []
        for name in names:
            topic = shard.image.topics.get(name)
            if by_id and topic is not None:
                states.append(DeleteTopicState(name=None, topic_id=topic.id))
            else:
                states.append(DeleteTopicState(name=name))
        return shard.decide_delete_topics(DeleteTopicsRequest(topics=states))

    return decide


@st.composite
def growths(draw: st.DrawFn) -> Decide:
    topics = [
        CreatePartitionsTopic(name=name, count=draw(st.integers(0, 30)), assignments=None)
        for name in draw(st.lists(NAMES, min_size=1, max_size=2))
    ]
    return lambda shard: shard.decide_create_partitions(CreatePartitionsRequest(topics=topics))


RESOURCES = st.one_of(
    st.tuples(st.just(2), NAMES), st.tuples(st.just(4), st.sampled_from(["", "1", "9", "x"]))
)


@st.composite
def changes(draw: st.DrawFn) -> Decide:
    resources = draw(st.lists(RESOURCES, min_size=1, max_size=2))
    configs = [draw(CONFIGS) for _ in resources]
    if draw(st.booleans()):
        old = AlterConfigsRequest(
            resources=[
                AlterConfigsResource(
                    resource_type=kind,
                    resource_name=name,
                    configs=[AlterableConfig(name=k, value=v) for k, v in values],
                )
                for (kind, name), values in zip(resources, configs, strict=True)
            ]
        )
        return lambda shard: shard.decide_alter_configs(old)
    new = incremental.IncrementalAlterConfigsRequest(
        resources=[
            incremental.AlterConfigsResource(
                resource_type=kind,
                resource_name=name,
                configs=[
                    incremental.AlterableConfig(
                        name=k, value=v, config_operation=draw(st.integers(0, 4))
                    )
                    for k, v in values
                ],
            )
            for (kind, name), values in zip(resources, configs, strict=True)
        ]
    )
    return lambda shard: shard.decide_incremental_alter_configs(new)


@st.composite
def comings_and_goings(draw: st.DrawFn) -> Decide:
    broker_id, fence = draw(BROKERS), draw(st.booleans())

    def decide(shard: ControllerShard) -> Any:
        broker = shard.image.brokers.get(broker_id)
        epoch = -1 if broker is None else broker.epoch
        if fence:
            return shard.decide_fence_broker(broker_id, epoch)
        return shard.decide_unfence_broker(broker_id, epoch)

    return decide


@st.composite
def others(draw: st.DrawFn) -> Decide:
    names = draw(st.lists(NAMES, min_size=1, max_size=2))
    topics = [TopicPartitions(topic=name, partitions=[0, 1]) for name in names]
    elect = ElectLeadersRequest(election_type=draw(st.integers(0, 1)), topic_partitions=topics)

    with_defaults = CreateTopicsRequest(
        topics=[
            CreatableTopic(name=name, num_partitions=-1, replication_factor=-1)
            for name in dict.fromkeys(names)
        ]
    )

    def allocate(shard: ControllerShard) -> Any:
        request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=shard.image.brokers[1].epoch)
        return shard.decide_allocate_producer_ids(request)

    return draw(
        st.sampled_from(
            [
                allocate,
                lambda shard: shard.decide_elect_leaders(elect),
                lambda shard: shard.decide_create_topics(with_defaults),
            ]
        )
    )


HISTORY = st.lists(
    st.one_of(creations(), deletions(), growths(), changes(), comings_and_goings(), others()),
    max_size=12,
)


@settings(max_examples=150, deadline=None)
@given(HISTORY)
def test_replaying_the_log_gives_the_image_that_was_lived(history: list[Decide]) -> None:
    controller = Controller(3, ControllerConfig(records_per_batch_max=10))
    for decide in history:
        before = list(image_records(controller.image))
        try:
            decide(controller.shard)
        except ApiError:
            pass
        assert list(image_records(controller.image)) == before, "deciding changes nothing"
        try:
            controller.do(decide)
        except ApiError:
            continue
        check_partitions(controller)
    assert controller.reloaded() == controller.image
    snapshot = [
        decode_metadata_record(encode_metadata_record(one))
        for one in image_records(controller.image)
    ]
    assert replay(snapshot) == controller.image


def check_partitions(controller: Controller) -> None:
    active = {broker.id for broker in controller.image.active_brokers}
    for topic in controller.image.topics:
        assert sorted(topic.partitions) == list(range(len(topic.partitions)))
        for partition in topic.partitions.values():
            assert partition.leader == -1 or partition.leader in active
            assert partition.leader == -1 or partition.leader in partition.isr
            assert not set(partition.isr) & set(partition.elr)
            assert set(partition.isr) | set(partition.elr) <= set(partition.replicas)
            assert len(partition.directories) == len(partition.replicas)
            assert len(set(partition.replicas)) == len(partition.replicas)
