"""kafka-python's KafkaAdminClient behind the suite's admin interface."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

with warnings.catch_warnings():
    # See kafka_python.py.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaAdminClient, TopicPartition
    from kafka import errors as kafka_errors
    from kafka.admin import ConfigResource, OffsetSpec
    from kafka.errors import KafkaError

from tests.conformance.clients.admin import Change, ClusterDescription, ConfigValue, Partition
from tests.conformance.clients.kafka_python import as_broker_error
from tests.conformance.clients.record import BrokerError


def call(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    try:
        return function(*args, **options)
    except KafkaError as error:
        raise as_broker_error(error) from error


class KafkaPythonAdmin:
    name = "kafka-python"

    def __init__(self, bootstrap_servers: str) -> None:
        self.client = KafkaAdminClient(bootstrap_servers=bootstrap_servers)

    def close(self) -> None:
        self.client.close()

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        replication: int = 1,
        *,
        assignment: Sequence[Sequence[int]] | None = None,
        config: Mapping[str, str] | None = None,
        validate_only: bool = False,
    ) -> None:
        wanted: dict[str, Any] = {"configs": dict(config or {})}
        if assignment is None:
            wanted |= {"num_partitions": partitions, "replication_factor": replication}
        else:
            wanted["assignments"] = {n: list(item) for n, item in enumerate(assignment)}
        call(self.client.create_topics, {name: wanted}, validate_only=validate_only)

    def delete_topic(self, name: str) -> None:
        call(self.client.delete_topics, [name])

    def create_partitions(
        self,
        name: str,
        total: int,
        *,
        assignment: Sequence[Sequence[int]] | None = None,
        validate_only: bool = False,
    ) -> None:
        wanted: Any = total
        if assignment is not None:
            wanted = {"count": total, "assignments": [list(item) for item in assignment]}
        call(self.client.create_partitions, {name: wanted}, validate_only=validate_only)

    def topic_names(self) -> set[str]:
        return set(call(self.client.list_topics))

    def describe_topic(self, name: str) -> dict[int, Partition]:
        (found,) = call(self.client.describe_topics, [name])
        if found["error_code"]:
            raise BrokerError(found["error_code"], name)
        return {
            p["partition_index"]: Partition(
                p["leader_id"], tuple(p["replica_nodes"]), tuple(p["isr_nodes"])
            )
            for p in found["partitions"]
        }

    def describe_config(self, kind: str, name: str) -> dict[str, ConfigValue]:
        resource = ConfigResource(kind, name)
        found = call(self.client.describe_configs, [resource], config_filter="all")
        return {
            key: ConfigValue(e["value"], e["config_source"], e["read_only"], e["is_sensitive"])
            for key, e in found[kind.lower()][name].items()
        }

    def replace_config(self, kind: str, name: str, config: Mapping[str, str]) -> None:
        self._alter(kind, name, dict(config), incremental=False, validate_only=False)

    def change_config(
        self, kind: str, name: str, changes: Sequence[Change], validate_only: bool = False
    ) -> None:
        wanted = {key: (operation, value) for operation, key, value in changes}
        self._alter(kind, name, wanted, incremental=True, validate_only=validate_only)

    def _alter(
        self, kind: str, name: str, wanted: dict[str, Any], incremental: bool, validate_only: bool
    ) -> None:
        found = call(
            self.client.alter_configs,
            [ConfigResource(kind, name, wanted)],
            validate_only=validate_only,
            raise_on_unknown=False,
            incremental=incremental,
        )[kind.lower()][name]
        if found != "OK":
            # The client gives the error as text, which begins with its number.
            code = re.match(r"\[Error (\d+)\]", found)
            raise BrokerError(int(code.group(1)) if code else None, found)

    def delete_records(self, topic: str, before: int, partition: int = 0) -> int:
        where = TopicPartition(topic, partition)
        found = call(self.client.delete_records, {where: before})
        return int(found[where]["low_watermark"])

    def list_offset(self, topic: str, spec: str | int, partition: int = 0) -> tuple[int, int]:
        where = TopicPartition(topic, partition)
        wanted = spec if isinstance(spec, int) else OffsetSpec[spec.upper()]
        found = call(self.client.list_partition_offsets, {where: wanted})[where]
        return found.offset, found.timestamp

    def describe_cluster(self) -> ClusterDescription:
        found = call(self.client.describe_cluster)
        brokers = {b["broker_id"]: (b["host"], b["port"]) for b in found["brokers"]}
        return ClusterDescription(found["cluster_id"], found["controller_id"], brokers)

    def elect_leader(self, kind: str, topic: str, partition: int = 0) -> int:
        number = {"PREFERRED": 0, "UNCLEAN": 1}[kind]
        found = call(self.client.elect_leaders, number, {topic: [partition]}, raise_errors=False)
        (result,) = found.replica_election_results
        assert kafka_errors.for_code(found.error_code) is kafka_errors.NoError
        return int(result.partition_result[0].error_code)
