"""Ids the controller will not give, levels it will not read, and sizes it has to bear."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from penstock.controller import ControllerConfig, ControllerShard, SettingsSchema
from penstock.model.error import ApiError
from penstock.model.id import id_to_str
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.records.begin_transaction_record import BeginTransactionRecord
from penstock.protocol.messages.records.end_transaction_record import EndTransactionRecord
from penstock.protocol.messages.records.feature_level_record import FeatureLevelRecord
from penstock.settings.config import BrokerConfig
from tests.unit.controller.controller_kit import Controller


def create(*topics: CreatableTopic) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=list(topics))


def test_ids_that_are_reserved_taken_or_look_like_options_are_drawn_again() -> None:
    controller = Controller()
    taken = b"\x11" * 16
    dashed = b"\xfb" + b"\x01" * 15
    assert id_to_str(dashed).startswith("-")
    draws = iter([taken, bytes(16), bytes(15) + b"\x01", dashed, taken, b"\x22" * 16])
    controller.shard._draw_id = lambda: next(draws)
    for name in ("first", "second"):
        topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
        controller.do(lambda shard, topic=topic: shard.decide_create_topics(create(topic)))
    ids = [topic.id for topic in controller.image.topics]
    assert ids == [taken, b"\x22" * 16]


def test_a_log_of_a_level_not_known_is_not_taken_over() -> None:
    settings = BrokerConfig()
    shard = ControllerShard(ControllerConfig(), SettingsSchema(lambda: settings), lambda: b"")
    for level in (31, 16):
        shard.replay(FeatureLevelRecord(name="metadata.version", feature_level=level), 0)
        with pytest.raises(ApiError, match="levels 17 to 30"):
            shard.decide_activate()


def test_a_formatted_directory_says_what_a_cluster_begins_with() -> None:
    settings = BrokerConfig()
    shard = ControllerShard(ControllerConfig(), SettingsSchema(lambda: settings), lambda: b"")
    wanted = FeatureLevelRecord(name="metadata.version", feature_level=25)
    records = shard.decide_activate([wanted]).records
    assert isinstance(records[0], BeginTransactionRecord)
    assert isinstance(records[-1], EndTransactionRecord)
    assert wanted in records


def test_topic_settings_in_effect_are_answered() -> None:
    controller = Controller()
    topic = CreatableTopic(name="orders", num_partitions=1, replication_factor=1)
    reply = controller.do(lambda shard: shard.decide_create_topics(create(topic)))
    configs = {config.name: config for config in reply.topics[0].configs}
    assert list(configs) == sorted(configs) and len(configs) > 25
    assert configs["retention.ms"].value == "604800000"
    assert configs["retention.ms"].config_source == 5


@pytest.mark.parametrize(("topics", "partitions"), [(1, 10_000), (2_000, 1)])
def test_large_creations_take_a_moment_only(topics: int, partitions: int) -> None:
    controller = Controller()
    request = create(
        *(
            CreatableTopic(name=f"t{number}", num_partitions=partitions, replication_factor=1)
            for number in range(topics)
        )
    )
    started = time.process_time()
    controller.do(lambda shard: shard.decide_create_topics(request))
    assert time.process_time() - started < 5, "an order of magnitude over what it takes"
    assert controller.image.topics.partition_count() == topics * partitions


def test_leaders_and_replicas_are_spread_evenly() -> None:
    controller = Controller(brokers=5)
    topic = CreatableTopic(name="wide", num_partitions=100, replication_factor=3)
    controller.do(lambda shard: shard.decide_create_topics(create(topic)))
    wide = controller.image.topics.get("wide")
    assert wide is not None
    leaders = Counter(one.leader for one in wide.partitions.values())
    assert set(leaders.values()) == {20}
    held = Counter(broker for one in wide.partitions.values() for broker in one.replicas)
    assert max(held.values()) - min(held.values()) <= 10
    followers = Counter(one.replicas[1] for one in wide.partitions.values() if one.leader == 1)
    assert len(followers) == 4, "not always the same neighbour"
