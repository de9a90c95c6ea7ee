"""A controller of many brokers in virtual time: brokers register, send heartbeats, stop, lead."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.controller import ControllerConfig
from penstock.controller.outcome import Outcome
from penstock.metadata import MetadataRecord, PartitionImage, TopicImage
from penstock.model.error import ErrorCode
from penstock.protocol.messages import assign_replicas_to_dirs, incremental_alter_configs
from penstock.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    BrokerState,
    RequestPartitionData,
    RequestTopicData,
    ResponsePartitionData,
)
from penstock.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopic,
)
from penstock.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    RequestDirectoryData,
)
from penstock.protocol.messages.broker_heartbeat import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
)
from penstock.protocol.messages.broker_registration import BrokerRegistrationRequest
from penstock.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from penstock.protocol.messages.unregister_broker import UnregisterBrokerRequest
from tests.unit.controller.controller_kit import Controller, replay

ANY_EPOCH = -1


class Cluster(Controller):
    """`now_ms` moves by `wait` alone; timers that come due meanwhile are let expire."""

    def __init__(self, brokers: int = 3, config: ControllerConfig | None = None) -> None:
        self.now_ms = 1_000_000
        super().__init__(0, config or ControllerConfig(metadata_max_idle_interval_ms=0))
        self.activate()
        for broker_id in range(1, brokers + 1):
            self.start(broker_id)

    # --- controllers ---

    def activate(self) -> list[MetadataRecord]:
        decision = self.shard.decide_activate(now_ms=self.now_ms)
        return list(self.take(decision).records)

    def fail_over(self) -> list[MetadataRecord]:
        """Another controller takes over, with what was committed and nothing else."""
        self.timers = type(self.timers)()
        self.shard = self._new_shard(replay(self.records()))
        return self.activate()

    def wait(self, ms: int) -> list[MetadataRecord]:
        """The records that timers brought about meanwhile."""
        until_ms, records = self.now_ms + ms, []
        while (due_ms := self.timers.next_deadline_ms()) is not None and due_ms <= until_ms:
            self.now_ms = max(self.now_ms, due_ms)
            records += self.ring()
        self.now_ms = until_ms
        return records

    def ring(self) -> list[MetadataRecord]:
        key = self.timers.pop_next(self.now_ms)
        return [] if key is None else list(self.take(self.shard.expire(key, self.now_ms)).records)

    # --- brokers ---

    def register(
        self, broker_id: int, request: BrokerRegistrationRequest | None = None, version: int = 4
    ) -> Outcome[object]:
        wanted = request or self.registration(broker_id)
        decision = self.shard.decide_register_broker(wanted, version, self.now_ms)
        return self.take(decision)  # type: ignore[arg-type,return-value]

    def restart(self, broker_id: int, clean: bool) -> list[MetadataRecord]:
        request = self.registration(broker_id)
        request.previous_broker_epoch = self.epoch(broker_id) if clean else -1
        return list(self.register(broker_id, request).records)

    def start(self, broker_id: int) -> None:
        self.register(broker_id)
        assert not self.heartbeat(broker_id).is_fenced

    def epoch(self, broker_id: int) -> int:
        return self.image.brokers[broker_id].epoch

    def heartbeat_request(
        self, broker_id: int, *, want_fence: bool = False, want_shut_down: bool = False
    ) -> BrokerHeartbeatRequest:
        return BrokerHeartbeatRequest(
            broker_id=broker_id,
            broker_epoch=self.epoch(broker_id),
            current_metadata_offset=len(self.log) - 1,
            want_fence=want_fence,
            want_shut_down=want_shut_down,
        )

    def heartbeat(
        self, broker_id: int, *, want_fence: bool = False, want_shut_down: bool = False
    ) -> BrokerHeartbeatResponse:
        request = self.heartbeat_request(
            broker_id, want_fence=want_fence, want_shut_down=want_shut_down
        )
        return self.send(request)

    def send(self, request: BrokerHeartbeatRequest) -> BrokerHeartbeatResponse:
        return self.do(lambda shard: shard.decide_heartbeat(request, self.now_ms))

    def fence(self, broker_id: int) -> list[MetadataRecord]:
        decision = self.shard.decide_fence_broker(broker_id, self.epoch(broker_id))
        return list(self.take(decision).records)

    # --- topics ---

    def create(self, name: str, *replicas: Sequence[int], **configs: object) -> TopicImage:
        """A topic with a partition for each list of replicas."""
        topic = CreatableTopic(
            name=name,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[
                CreatableReplicaAssignment(partition_index=at, broker_ids=list(ids))
                for at, ids in enumerate(replicas)
            ],
            configs=[
                CreatableTopicConfig(name=key.replace("_", "."), value=str(value))
                for key, value in configs.items()
            ],
        )
        request = CreateTopicsRequest(topics=[topic])
        reply = self.do(lambda shard: shard.decide_create_topics(request))
        assert reply.topics[0].error_code == ErrorCode.NONE, reply.topics[0].error_message
        return self.topic(name)

    def topic(self, name: str) -> TopicImage:
        found = self.image.topics.get(name)
        assert found is not None
        return found

    def partition(self, name: str, index: int = 0) -> PartitionImage:
        return self.topic(name).partitions[index]

    def alteration(
        self,
        name: str,
        isr: Sequence[int],
        *,
        index: int = 0,
        epochs: dict[int, int] | None = None,
        recovery: int | None = None,
    ) -> RequestPartitionData:
        partition = self.partition(name, index)
        known = {one: broker.epoch for one, broker in self.image.brokers.items()}
        known.update(epochs or {})
        return RequestPartitionData(
            partition_index=index,
            leader_epoch=partition.leader_epoch,
            partition_epoch=partition.partition_epoch,
            new_isr=isr,
            new_isr_with_epochs=[
                BrokerState(broker_id=one, broker_epoch=known.get(one, ANY_EPOCH)) for one in isr
            ],
            leader_recovery_state=0 if recovery is None else recovery,
        )

    def alter(
        self, name: str, wanted: RequestPartitionData, sender: int | None = None, version: int = 3
    ) -> ResponsePartitionData:
        leader = self.partition(name, wanted.partition_index).leader
        broker_id = leader if sender is None else sender
        request = AlterPartitionRequest(
            broker_id=broker_id,
            broker_epoch=self.epoch(broker_id),
            topics=[RequestTopicData(topic_id=self.topic(name).id, partitions=[wanted])],
        )
        reply = self.do(lambda shard: shard.decide_alter_partition(request, version))
        return reply.topics[0].partitions[0]

    def set_isr(self, name: str, *isr: int, index: int = 0) -> ResponsePartitionData:
        return self.alter(name, self.alteration(name, isr, index=index))

    def reassign(
        self,
        name: str,
        replicas: Sequence[int] | None,
        *,
        index: int = 0,
        may_change_count: bool = True,
    ) -> ReassignablePartitionResponse:
        wanted = ReassignablePartition(
            partition_index=index, replicas=None if replicas is None else list(replicas)
        )
        request = AlterPartitionReassignmentsRequest(
            allow_replication_factor_change=may_change_count,
            topics=[ReassignableTopic(name=name, partitions=[wanted])],
        )
        reply = self.do(lambda shard: shard.decide_alter_reassignments(request))
        return reply.responses[0].partitions[0]

    def spread(self, name: str, partitions: int, replicas: int) -> set[int]:
        """The brokers that a topic is put on which leaves the choice to the controller; none if it
        cannot be made."""
        topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=replicas)
        request = CreateTopicsRequest(topics=[topic])
        self.do(lambda shard: shard.decide_create_topics(request))
        made = self.image.topics.get(name)
        partitions = [] if made is None else made.partitions.values()
        return {broker_id for one in partitions for broker_id in one.replicas}

    def place(self, broker_id: int, held: dict[bytes, list[int]], name: str = "t") -> list[int]:
        """The broker says which partitions of the topic are in which directory; error codes."""
        request = AssignReplicasToDirsRequest(
            broker_id=broker_id,
            broker_epoch=self.epoch(broker_id),
            directories=[
                RequestDirectoryData(
                    id=directory,
                    topics=[
                        assign_replicas_to_dirs.RequestTopicData(
                            topic_id=self.topic(name).id,
                            partitions=[
                                assign_replicas_to_dirs.RequestPartitionData(partition_index=one)
                                for one in indexes
                            ],
                        )
                    ],
                )
                for directory, indexes in held.items()
            ],
        )
        reply = self.do(lambda shard: shard.decide_assign_replicas(request))
        return [
            partition.error_code
            for directory in reply.directories
            for topic in directory.topics
            for partition in topic.partitions
        ]

    def unregister(self, broker_id: int) -> list[MetadataRecord]:
        request = UnregisterBrokerRequest(broker_id=broker_id)
        return list(self.take(self.shard.decide_unregister_broker(request)).records)

    def set_config(self, resource_type: int, name: str, key: str, value: str | None) -> None:
        change = incremental_alter_configs.AlterableConfig(
            name=key, value=value, config_operation=int(value is None)
        )
        resource = incremental_alter_configs.AlterConfigsResource(
            resource_type=resource_type, resource_name=name, configs=[change]
        )
        request = incremental_alter_configs.IncrementalAlterConfigsRequest(resources=[resource])
        reply = self.do(lambda shard: shard.decide_incremental_alter_configs(request))
        assert reply.responses[0].error_code == ErrorCode.NONE, reply.responses[0].error_message
