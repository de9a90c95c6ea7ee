"""Topics over the protocol: list, create, describe, alter, delete. Prints nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import ConfigResource, NewPartitions, NewTopic, OffsetSpec
from confluent_kafka.admin import TopicDescription as Description

from penstock.cli.cluster import Cluster, is_internal, reason, unknown_topic
from penstock.cli.config import describe_configs
from penstock.cli.failure import Failure


@dataclass(slots=True)
class PartitionState:
    partition: int
    leader: int | None
    replicas: list[int]
    isr: list[int]
    start_offset: int | None = None
    end_offset: int | None = None


@dataclass(slots=True)
class TopicState:
    topic: str
    id: str
    internal: bool
    partitions: list[PartitionState]
    settings: dict[str, str | None] = field(default_factory=dict)
    """Only those the topic has of its own."""

    def document(self) -> dict[str, Any]:
        return asdict(self)


def topic_names(cluster: Cluster, *, internal: bool) -> list[str]:
    return [name for name in sorted(cluster.metadata().topics) if internal or not is_internal(name)]


def list_topics(cluster: Cluster, *, internal: bool) -> list[dict[str, Any]]:
    metadata = cluster.metadata()
    return [
        {
            "topic": name,
            "partitions": len(topic.partitions),
            "replicas": max((len(each.replicas) for each in topic.partitions.values()), default=0),
        }
        for name, topic in sorted(metadata.topics.items())
        if internal or not is_internal(name)
    ]


def create_topics(
    cluster: Cluster,
    names: Sequence[str],
    *,
    partitions: int,
    replication_factor: int,
    settings: Mapping[str, str],
    if_not_exists: bool,
    validate_only: bool,
) -> list[str]:
    """The names that did not exist before."""
    wanted = [
        NewTopic(
            name,
            num_partitions=partitions,
            replication_factor=replication_factor,
            config=dict(settings),
        )
        for name in names
    ]
    futures = cluster.admin().create_topics(
        wanted, validate_only=validate_only, operation_timeout=cluster.timeout_s
    )
    passable = {KafkaError.TOPIC_ALREADY_EXISTS} if if_not_exists else set()
    return _settle(cluster, futures, passable)


def delete_topics(cluster: Cluster, names: Sequence[str], *, if_exists: bool) -> list[str]:
    futures = cluster.admin().delete_topics(list(names), operation_timeout=cluster.timeout_s)
    passable = {KafkaError.UNKNOWN_TOPIC_OR_PART} if if_exists else set()
    return _settle(cluster, futures, passable)


def add_partitions(cluster: Cluster, name: str, total: int) -> None:
    _settle(cluster, cluster.admin().create_partitions([NewPartitions(name, total)]), set())


def _settle(cluster: Cluster, futures: Mapping[str, Any], passable: set[int]) -> list[str]:
    """Wait for all; what succeeded stays done even if the next one fails."""
    done, failures = [], []
    for name, future in futures.items():
        try:
            cluster.answer_of(future)
            done.append(name)
        except KafkaException as error:
            if error.args[0].code() not in passable:
                failures.append(_failure(cluster, name, error))
    if failures:
        raise Failure("; ".join(str(each) for each in failures))
    return done


def _failure(cluster: Cluster, name: str, error: KafkaException) -> Failure:
    cause = error.args[0]
    if cause.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
        return unknown_topic(name)
    if cause.code() > 0:
        return Failure(f"{name}: {reason(cause)}")
    return cluster.explain(error)


def describe_topics(cluster: Cluster, names: Sequence[str]) -> list[TopicState]:
    futures = cluster.admin().describe_topics(
        TopicCollection(list(names)), request_timeout=cluster.timeout_s
    )
    states = []
    for name, future in futures.items():
        try:
            states.append(_topic_state(cluster.answer_of(future)))
        except KafkaException as error:
            raise _failure(cluster, name, error) from error
    _add_offsets(cluster, states)
    _add_settings(cluster, states)
    return states


def _topic_state(described: Description) -> TopicState:
    partitions = [
        PartitionState(
            partition=each.id,
            leader=None if each.leader is None else each.leader.id,
            replicas=[node.id for node in each.replicas],
            isr=[node.id for node in each.isr],
        )
        for each in described.partitions
    ]
    return TopicState(
        topic=described.name,
        # The library writes ids in plain base64, Kafka's own tools in the one for file names.
        id=str(described.topic_id).replace("+", "-").replace("/", "_"),
        internal=described.is_internal,
        partitions=partitions,
    )


def _add_offsets(cluster: Cluster, states: list[TopicState]) -> None:
    led = {
        TopicPartition(state.topic, each.partition): each
        for state in states
        for each in state.partitions
        if each.leader is not None
    }
    ends = (
        ("start_offset", OffsetSpec.earliest()),  # type: ignore[no-untyped-call]
        ("end_offset", OffsetSpec.latest()),  # type: ignore[no-untyped-call]
    )
    for name, spec in ends:
        futures = cluster.admin().list_offsets(
            dict.fromkeys(led, spec), request_timeout=cluster.timeout_s
        )
        for partition, future in futures.items():
            with cluster.explaining():
                setattr(led[partition], name, cluster.answer_of(future).offset)


def _add_settings(cluster: Cluster, states: list[TopicState]) -> None:
    resources = {state.topic: ConfigResource("topic", state.topic) for state in states}
    described = describe_configs(cluster, list(resources.values()))
    for state in states:
        entries = described[resources[state.topic]]
        state.settings = {each.name: each.value for each in entries if each.own}
