"""Whatever happens to a cluster, in whatever order: what holds of its partitions all the time.

Besides the shape of each partition, that a leader who was not elected uncleanly holds everything
that was committed; replicas that do are kept account of beside the controller.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest

from penstock.controller import ControllerConfig
from penstock.controller.partition_index import PartitionIndex
from penstock.metadata import PartitionImage, TopicImage
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from penstock.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from penstock.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.protocol.messages.elect_leaders import ElectLeadersRequest
from penstock.protocol.record_frame import decode_metadata_record
from tests.unit.controller.cluster_kit import Cluster
from tests.unit.controller.standby_kit import Standby

BROKERS = 5
NAMES = ("a", "b", "u")
RECOVERING = 1
Key = tuple[bytes, int]


class Account:
    """Which replicas hold all that is committed: while enough are in sync, those that are."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._whole: dict[Key, set[int]] = {}
        self._before: dict[Key, PartitionImage] = {}

    def lose(self, broker_id: int) -> None:
        for whole in self._whole.values():
            whole.discard(broker_id)

    def catch_up(self, key: Key, broker_ids: list[int]) -> None:
        """Their leader says so; the end of a reassignment may at once make one of them leader."""
        self._whole[key].update(broker_ids)

    def check(self) -> None:
        seen: dict[Key, PartitionImage] = {}
        for topic in self._cluster.image.topics:
            for index, partition in topic.partitions.items():
                key = topic.id, index
                seen[key] = partition
                self._check_one(topic, key, partition)
        self._before = seen

    def _check_one(self, topic: TopicImage, key: Key, after: PartitionImage) -> None:
        before = self._before.get(key)
        is_unclean = after.leader_recovery_state == RECOVERING
        whole = self._whole.setdefault(key, set(after.isr))
        if before is not None:
            self._check_epochs(before, after)
            is_new_leader = after.leader != before.leader and after.leader >= 0
            if is_new_leader and not is_unclean:
                assert after.leader in whole, (topic.name, before, after, whole)
        if is_unclean or len(after.isr) >= self._enough(topic, after):
            whole.clear()
        whole.update(after.isr)

    def _enough(self, topic: TopicImage, partition: PartitionImage) -> int:
        configs = self._cluster.image.configs
        key = "min.insync.replicas"
        value = configs.topic(topic.name).get(key) or configs.broker(None)[key]
        return min(int(value), len(partition.replicas))

    @staticmethod
    def _check_epochs(before: PartitionImage, after: PartitionImage) -> None:
        assert after.leader_epoch >= before.leader_epoch
        assert after.partition_epoch >= before.partition_epoch
        assert (after.leader == before.leader) or after.leader_epoch > before.leader_epoch
        is_same = after.isr == before.isr and after.replicas == before.replicas
        assert is_same or after.partition_epoch > before.partition_epoch


class World:
    def __init__(self) -> None:
        config = ControllerConfig(
            records_per_batch_max=6, elections_per_round_max=3, metadata_max_idle_interval_ms=5000
        )
        self.cluster = Cluster(0, config)
        self.account = Account(self.cluster)
        self.standby = Standby()
        self.shown = 0
        for broker_id in range(1, 4):
            self.start(broker_id, 0, 0)
            self.beat(broker_id, 0, 0)
        self.create(0, 2, 0)
        self.check()

    def _topic(self, which: int) -> TopicImage | None:
        return self.cluster.image.topics.get(NAMES[which % len(NAMES)])

    def _partition(self, which: int) -> tuple[TopicImage, int] | None:
        topic = self._topic(which)
        return None if topic is None else (topic, which // 3 % len(topic.partitions))

    def _some(self, mask: int) -> list[int]:
        ids = [one for one in range(1, BROKERS + 1) if mask >> one & 1]
        return ids[mask % 3 :] + ids[: mask % 3]

    def _known(self, which: int) -> int | None:
        broker_id = 1 + which % BROKERS
        return broker_id if broker_id in self.cluster.image.brokers else None

    # --- what may happen; each takes three numbers ---

    def start(self, which: int, is_clean: int, is_late: int) -> None:
        broker_id = 1 + which % BROKERS
        known = self.cluster.image.brokers.get(broker_id)
        request = self.cluster.registration(broker_id)
        request.log_dirs = [bytes([broker_id, side] * 8) for side in (1, 2)]
        if known is not None and is_clean % 2:
            request.previous_broker_epoch = known.epoch
        if is_late % 2:
            self.cluster.now_ms += 9001
        self.cluster.register(broker_id, request)
        if not is_clean % 2:
            self.account.lose(broker_id)

    def beat(self, which: int, wish: int, lag: int) -> None:
        broker_id = self._known(which)
        if broker_id is None:
            return
        request = self.cluster.heartbeat_request(
            broker_id, want_fence=wish % 8 == 1, want_shut_down=wish % 8 in (2, 3)
        )
        request.current_metadata_offset -= lag % 40 if lag % 4 == 0 else 0
        if wish % 8 == 4:
            request.offline_log_dirs = [bytes([broker_id, 2] * 8)]
        if wish % 8 == 5:
            request.cordoned_log_dirs = list(self.cluster.image.brokers[broker_id].log_dirs)
        self.cluster.send(request)

    def beat_all(self, *_: int) -> None:
        for which in range(BROKERS):
            self.beat(which, 0, 1)

    def kill(self, which: int, *_: int) -> None:
        broker_id = self._known(which)
        if broker_id is not None:
            self.cluster.fence(broker_id)

    def leave(self, which: int, *_: int) -> None:
        broker_id = self._known(which)
        if broker_id is not None:
            self.cluster.unregister(broker_id)
            self.account.lose(broker_id)

    def wait(self, ms: int, *_: int) -> None:
        self.cluster.wait(ms * 7)

    def fail_over(self, *_: int) -> None:
        self.cluster.fail_over()

    def in_sync(self, which: int, mask: int, quirk: int) -> None:
        found = self._partition(which)
        if found is None or found[0].partitions[found[1]].leader < 0:
            return
        topic, index = found
        partition = topic.partitions[index]
        isr = [partition.leader]
        isr += [one for one in partition.replicas if mask >> one & 1 and one not in isr]
        recovery = partition.leader_recovery_state if quirk % 4 == 0 else 0
        wanted = self.cluster.alteration(topic.name, isr, index=index, recovery=recovery)
        if quirk % 8 == 7:
            wanted.partition_epoch -= 1
        reply = self.cluster.alter(topic.name, wanted, version=2 + quirk % 2)
        if reply.error_code in (ErrorCode.NONE, ErrorCode.NEW_LEADER_ELECTED):
            self.account.catch_up((topic.id, index), isr)

    def move(self, which: int, mask: int, quirk: int) -> None:
        found = self._partition(which)
        if found is not None:
            wanted = None if quirk % 4 == 0 else self._some(mask)
            self.cluster.reassign(found[0].name, wanted, index=found[1])

    def create(self, which: int, mask: int, _: int) -> None:
        name = NAMES[which % len(NAMES)]
        if name in self.cluster.image.topics:
            return
        self.cluster.spread(name, partitions=1 + mask % 4, replicas=1 + mask // 4 % 3)
        self._configure(name, mask)

    def _configure(self, name: str, number: int) -> None:
        if name in self.cluster.image.topics:
            self.cluster.set_config(2, name, "min.insync.replicas", str(1 + number % 3))
            is_unclean = "true" if name == "u" else "false"
            self.cluster.set_config(2, name, "unclean.leader.election.enable", is_unclean)

    def configure(self, which: int, number: int, _: int) -> None:
        if number % 2:
            self.cluster.set_config(4, "", "min.insync.replicas", str(1 + number % 3))
        else:
            self._configure(NAMES[which % len(NAMES)], number // 2)

    def grow(self, which: int, *_: int) -> None:
        topic = self._topic(which)
        if topic is not None:
            wanted = CreatePartitionsTopic(name=topic.name, count=len(topic.partitions) + 1)
            wanted.assignments = None
            request = CreatePartitionsRequest(topics=[wanted])
            self.cluster.do(lambda shard: shard.decide_create_partitions(request))

    def delete(self, which: int, *_: int) -> None:
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name=NAMES[which % len(NAMES)])])
        self.cluster.do(lambda shard: shard.decide_delete_topics(request))

    def elect(self, which: int, *_: int) -> None:
        request = ElectLeadersRequest(election_type=which % 2, topic_partitions=None)
        self.cluster.do(lambda shard: shard.decide_elect_leaders(request))

    def assign(self, which: int, side: int, index: int) -> None:
        broker_id, topic = self._known(which), self._topic(which // 5)
        if broker_id is not None and topic is not None:
            directory = bytes([broker_id, 1 + side % 2] * 8)
            self.cluster.place(broker_id, {directory: [index % 5]}, topic.name)

    def lose_disk(self, which: int, index: int, _: int) -> None:
        self.assign(which, 1, index)
        self.beat(which, 4, 1)

    def allocate(self, which: int, *_: int) -> None:
        broker_id = self._known(which)
        if broker_id is not None:
            epoch = self.cluster.epoch(broker_id)
            request = AllocateProducerIdsRequest(broker_id=broker_id, broker_epoch=epoch)
            self.cluster.do(lambda shard: shard.decide_allocate_producer_ids(request))

    # --- what has to hold ---

    def check(self) -> None:
        for data in self.cluster.log[self.shown :]:
            self.standby.replay(decode_metadata_record(data))
        self.shown = len(self.cluster.log)
        for topic in self.cluster.image.topics:
            for partition in topic.partitions.values():
                self._check_shape(partition)
        self.account.check()

    def _check_shape(self, partition: PartitionImage) -> None:
        brokers = self.cluster.image.brokers
        replicas = set(partition.replicas)
        assert len(replicas) == len(partition.replicas) == len(partition.directories)
        assert len(set(partition.isr)) == len(partition.isr)
        assert set(partition.isr) <= replicas and set(partition.elr) <= replicas
        assert not set(partition.isr) & set(partition.elr)
        assert all(one in brokers and brokers[one].is_active for one in partition.isr), partition
        assert partition.leader in (partition.isr or (-1,)), partition
        assert set(partition.adding_replicas) | set(partition.removing_replicas) <= replicas
        assert partition.last_known_elr == () or partition.leader == -1
        assert -1 not in partition.last_known_elr

    def check_at_end(self) -> None:
        assert self.cluster.reloaded() == self.cluster.image
        kept, fresh = self.cluster.shard._context.index, PartitionIndex(self.cluster.image)
        for broker_id in range(1, BROKERS + 1):
            assert kept.in_sync(broker_id) == fresh.in_sync(broker_id)
            assert kept.eligible(broker_id) == fresh.eligible(broker_id)
            assert kept.leads_any(broker_id) == fresh.leads_any(broker_id)
        assert kept.leaderless() == fresh.leaderless()
        assert kept.off_preferred() == fresh.off_preferred()
        assert kept.moving() == fresh.moving()


EVENTS: list[Callable[[World, int, int, int], None]] = [
    World.start,
    World.start,
    World.beat,
    World.beat,
    World.beat_all,
    World.beat_all,
    World.kill,
    World.kill,
    World.leave,
    World.wait,
    World.fail_over,
    World.in_sync,
    World.in_sync,
    World.in_sync,
    World.move,
    World.move,
    World.create,
    World.create,
    World.configure,
    World.grow,
    World.delete,
    World.elect,
    World.assign,
    World.lose_disk,
    World.allocate,
]
STEPS = 80


@pytest.mark.parametrize("seed", range(60))
def test_whatever_happens_what_is_committed_is_led(seed: int) -> None:
    chance = Random(seed)
    world = World()
    for _ in range(STEPS):
        event = chance.choice(EVENTS)
        with suppress(ApiError):
            event(world, *(chance.randrange(1000) for _ in range(3)))
        world.check()
    world.check_at_end()
