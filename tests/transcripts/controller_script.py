"""The commands of controller transcripts, each turned into a request to a ControllerShard."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from penstock.controller import (
    BOOTSTRAP_FEATURES,
    ControllerConfig,
    ControllerShard,
    SettingsSchema,
)
from penstock.machine import Decision
from penstock.metadata import ResourceType
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.messages import alter_configs, incremental_alter_configs
from penstock.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from penstock.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from penstock.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
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
from penstock.settings.config import BrokerConfig
from tests.transcripts.transcript import Names

MANY_SHOWN = 8
OTHER_FEATURES = ("share.version", "streams.version")
FEATURES = {name: at for name, at in BOOTSTRAP_FEATURES.items() if name not in OTHER_FEATURES}
"""Those of share and streams groups are nothing to the controller."""


class ControllerScript:
    def __init__(self) -> None:
        self.names = Names()
        self.offset = 0
        self._start(ControllerConfig(bootstrap_features=FEATURES))

    def _start(self, config: ControllerConfig) -> None:
        broker_config = BrokerConfig()
        schema = SettingsSchema(lambda: broker_config)
        self.shard = ControllerShard(config, schema, self.names.draw)

    def run(self, command: list[str]) -> list[str]:
        name, *words = shlex.split(command[0])
        lines = [shlex.split(line) for line in command[1:]]
        method: Callable[..., Decision[Entity, object]] = getattr(
            self, "do_" + name.replace("-", "_")
        )
        try:
            decision = method(words, lines)
        except ApiError as error:
            return [f"! {error.code.name}: {error.message}"]
        shown = [self.names.entity(record) for record in decision.records]
        if len(shown) > MANY_SHOWN:
            shown = [*shown[:3], f"... {len(shown) - 6} more", *shown[-3:]]
        for record in decision.records:
            self.shard.replay(record, self.offset)
            self.offset += 1
        return shown + self._reply(decision.reply)

    def _reply(self, reply: object) -> list[str]:
        if not isinstance(reply, Entity):
            return []
        results = next((v for _, v in reply._values() if isinstance(v, list)), None)
        return [self._result(one) for one in ([reply] if results is None else results)]

    def _result(self, result: Entity) -> str:
        code = getattr(result, "error_code", 0)
        skip = ("error_code", "configs", "topic_config_error_code")
        return " ".join(["->", ErrorCode(code).name, *self.names.fields(result, skip)])

    # --- commands ---

    def do_settings(self, words: list[str], _: list[list[str]]) -> Decision[Entity, None]:
        values = {key: int(value) for key, value in (word.split("=") for word in words)}
        self._start(ControllerConfig(bootstrap_features=FEATURES, **values))
        return Decision((), None)

    def do_feature(self, words: list[str], _: list[list[str]]) -> Decision[Entity, None]:
        """What a cluster begins with instead of the usual."""
        features = {**FEATURES, words[0]: int(words[1])}
        self._start(ControllerConfig(bootstrap_features=features))
        return Decision((), None)

    def do_brokers(self, words: list[str], _: list[list[str]]) -> Decision[Entity, None]:
        """Where the story begins: a cluster of these brokers, all at work."""
        self.run(["activate"])
        for broker in words:
            self.run([f"register {broker.replace('@', ' rack=')}"])
            self.run([f"unfence {broker.partition('@')[0]}"])
        return Decision((), None)

    def do_activate(self, *_: object) -> Decision[Entity, None]:
        return self.shard.decide_activate()

    def do_register(self, words: list[str], _: list[list[str]]) -> Decision[Entity, object]:
        broker_id = int(words[0])
        options = dict(word.split("=") for word in words[1:])
        life = int(options.get("life", "1"))
        ranges = {"metadata.version": 30, "eligible.leader.replicas.version": 1}
        ranges |= {"group.version": 1, "share.version": 1}
        ranges["transaction.version"] = int(options.get("transaction", "2"))
        return self.shard.decide_register_broker(
            BrokerRegistrationRequest(
                broker_id=broker_id,
                incarnation_id=(1000 * broker_id + life).to_bytes(16, "big"),
                listeners=[Listener(name="PLAINTEXT", host=f"host{broker_id}", port=9092)],
                features=[Feature(name=k, max_supported_version=v) for k, v in ranges.items()],
                rack=options.get("rack"),
                log_dirs=[
                    int(one, 16).to_bytes(16, "big")
                    for one in options.get("dirs", f"d{broker_id}").split(",")
                    if one
                ],
            )
        )

    def do_unfence(self, words: list[str], _: list[list[str]]) -> Decision[Entity, object]:
        return self.shard.decide_unfence_broker(*self._life(words))

    def do_fence(self, words: list[str], _: list[list[str]]) -> Decision[Entity, object]:
        return self.shard.decide_fence_broker(*self._life(words))

    def _life(self, words: list[str]) -> tuple[int, int]:
        broker = self.shard.image.brokers.get(int(words[0]))
        epoch = -1 if broker is None else broker.epoch
        return int(words[0]), int(words[1]) if len(words) > 1 else epoch

    def do_create_topics(
        self, words: list[str], lines: list[list[str]]
    ) -> Decision[Entity, object]:
        topics = []
        for name, *rest in lines:
            options = dict(word.split("=", 1) for word in rest if "=" in word)
            topics.append(
                CreatableTopic(
                    name="" if name == "''" else name,
                    num_partitions=int(options.pop("partitions", "-1")),
                    replication_factor=int(options.pop("replicas", "-1")),
                    assignments=[
                        CreatableReplicaAssignment(partition_index=int(at), broker_ids=brokers)
                        for at, brokers in _assignments(options.pop("assign", ""))
                    ],
                    configs=[CreatableTopicConfig(name=k, value=v) for k, v in options.items()]
                    + [CreatableTopicConfig(name=w, value=None) for w in rest if "=" not in w],
                )
            )
        request = CreateTopicsRequest(topics=topics, validate_only="validate-only" in words)
        return self.shard.decide_create_topics(request)

    def do_auto_create(self, words: list[str], _: list[list[str]]) -> Decision[Entity, object]:
        topics = [
            CreatableTopic(name=w, num_partitions=-1, replication_factor=-1)
            for w in dict.fromkeys(words)
        ]
        return self.shard.decide_create_topics(CreateTopicsRequest(topics=topics))

    def do_delete_topics(
        self, words: list[str], lines: list[list[str]]
    ) -> Decision[Entity, object]:
        states = []
        for line in lines:
            given = dict(word.split("=") for word in line)
            topic_id = self.names.by_name(given["id"]) if "id" in given else bytes(16)
            states.append(DeleteTopicState(name=given.get("name"), topic_id=topic_id))
        return self.shard.decide_delete_topics(
            DeleteTopicsRequest(topics=states, topic_names=words)
        )

    def do_create_partitions(
        self, words: list[str], lines: list[list[str]]
    ) -> Decision[Entity, object]:
        topics = []
        for name, *rest in lines:
            options = dict(word.split("=") for word in rest)
            assigned = options.get("assign")
            topics.append(
                CreatePartitionsTopic(
                    name=name,
                    count=int(options["count"]),
                    assignments=None
                    if assigned is None
                    else [
                        CreatePartitionsAssignment(broker_ids=brokers)
                        for _, brokers in _assignments(assigned)
                    ],
                )
            )
        return self.shard.decide_create_partitions(
            CreatePartitionsRequest(topics=topics, validate_only="validate-only" in words)
        )

    def do_alter_configs(
        self, words: list[str], lines: list[list[str]]
    ) -> Decision[Entity, object]:
        resources = [
            alter_configs.AlterConfigsResource(
                resource_type=_resource_type(kind),
                resource_name="" if name == "''" else name,
                configs=[
                    alter_configs.AlterableConfig(name=key, value=value if equals else None)
                    for key, equals, value in (word.partition("=") for word in rest)
                ],
            )
            for kind, name, *rest in lines
        ]
        request = alter_configs.AlterConfigsRequest(
            resources=resources, validate_only="validate-only" in words
        )
        return self.shard.decide_alter_configs(request, _receiver(words))

    def do_incremental_alter_configs(
        self, words: list[str], lines: list[list[str]]
    ) -> Decision[Entity, object]:
        resources = [
            incremental_alter_configs.AlterConfigsResource(
                resource_type=_resource_type(kind),
                resource_name="" if name == "''" else name,
                configs=[_change(word) for word in rest],
            )
            for kind, name, *rest in lines
        ]
        request = incremental_alter_configs.IncrementalAlterConfigsRequest(
            resources=resources, validate_only="validate-only" in words
        )
        return self.shard.decide_incremental_alter_configs(request, _receiver(words))

    def do_elect_leaders(
        self, words: list[str], lines: list[list[str]]
    ) -> Decision[Entity, object]:
        topics = [
            TopicPartitions(topic=name, partitions=[int(one) for one in rest])
            for name, *rest in lines
        ]
        kinds = {"preferred": 0, "unclean": 1, "strange": 9}
        request = ElectLeadersRequest(
            election_type=kinds[words[0]], topic_partitions=None if "all" in words else topics
        )
        return self.shard.decide_elect_leaders(request)

    def do_allocate_producer_ids(
        self, words: list[str], _: list[list[str]]
    ) -> Decision[Entity, object]:
        broker_id, epoch = self._life(words)
        return self.shard.decide_allocate_producer_ids(
            AllocateProducerIdsRequest(broker_id=broker_id, broker_epoch=epoch)
        )


def _assignments(text: str) -> list[tuple[str, list[int]]]:
    """`0:1/2,1:2/3` names partitions and brokers; without numbers they count from zero."""
    pairs = []
    for at, part in enumerate(text.split(",") if text else []):
        index, colon, brokers = part.rpartition(":")
        ids = [int(one) for one in brokers.split("/") if one]
        pairs.append((index if colon else str(at), ids))
    return pairs


def _resource_type(word: str) -> int:
    return int(word) if word.isdecimal() else ResourceType[word.upper().replace("-", "_")]


def _receiver(words: list[str]) -> int | None:
    at = [word for word in words if word.startswith("at=")]
    return int(at[0][3:]) if at else None


def _change(word: str) -> incremental_alter_configs.AlterableConfig:
    """`key=value` sets, `key+=value` appends, `key-=value` subtracts, `-key` deletes."""
    key, equals, value = word.partition("=")
    operation = {"+": 2, "-": 3, "?": 9}.get(key[-1], 0) if equals else int(key[0] == "-")
    return incremental_alter_configs.AlterableConfig(
        name=key.strip("+-?"), config_operation=operation, value=value if equals else None
    )
