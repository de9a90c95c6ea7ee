"""Reads off requests and answers how the cluster was changed: what was there, what is there now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from penstock.audit.entry import (
    CLUSTER,
    CLUSTER_NAME,
    GROUP,
    TOPIC,
    USER,
    Change,
    Entry,
    Read,
    Values,
    topic_name,
)
from penstock.metadata.config import ResourceType
from penstock.metadata.image import ClusterImage
from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.incremental_alter_configs import AlterConfigsResource
from penstock.settings.broker import find_broker_key

HIDDEN: Final = "(hidden)"
ACL: Final = "ACL"

_SET, _DELETE = 0, 1
_WORDS: Final = {2: "append", 3: "subtract"}


class Wanted(NamedTuple):
    """A change that a request asks for."""

    resource_type: str
    resource: str
    before: Values | None = None
    after: Values | None = None


Errors = Callable[[Any], Iterable[tuple[str, int]]]
"""Resources of a response, with their error codes."""


def _read(operation: str, wanted: list[Wanted], errors_of: Errors) -> Read:
    def read(answer: Any) -> Iterator[Entry]:
        if isinstance(answer, ErrorCode):
            errors = {each.resource: int(answer) for each in wanted}
        else:
            errors = dict(errors_of(answer))
            whole = getattr(answer, "error_code", 0)
            if whole:
                errors = {each.resource: whole for each in wanted}
        for each in wanted:
            error = errors.get(each.resource, 0)
            yield Change(operation, each.resource_type, each.resource, error, *each[2:])

    return read


def of_create_topics(request: Any, image: ClusterImage) -> Read | None:
    wanted = [
        Wanted(
            TOPIC,
            topic.name,
            None,
            {
                "partitions": topic.num_partitions,
                "replication_factor": topic.replication_factor,
                "configs": {each.name: each.value for each in topic.configs},
            },
        )
        for topic in request.topics
    ]
    return None if request.validate_only else _read("CREATE", wanted, _by_name("topics"))


def of_delete_topics(request: Any, image: ClusterImage) -> Read:
    # By the time of the answer the image has forgotten the ids.
    by_id = {each.topic_id: topic_name(image, each.name, each.topic_id) for each in request.topics}
    names = [*dict.fromkeys(each.name or by_id[each.topic_id] for each in request.topics)]
    names += request.topic_names
    wanted = [Wanted(TOPIC, name, _topic(image, name)) for name in names]

    def errors(response: Any) -> Iterator[tuple[str, int]]:
        for each in response.responses:
            yield each.name or by_id.get(each.topic_id, ""), each.error_code

    return _read("DELETE", wanted, errors)


def _topic(image: ClusterImage, name: str) -> Values | None:
    topic = image.topics.get(name)
    return None if topic is None else {"partitions": len(topic.partitions)}


def of_create_partitions(request: Any, image: ClusterImage) -> Read | None:
    wanted = [
        Wanted(TOPIC, each.name, _topic(image, each.name), {"partitions": each.count})
        for each in request.topics
    ]
    return None if request.validate_only else _read("ALTER", wanted, _by_name("results"))


def of_delete_records(request: Any, image: ClusterImage) -> Read:
    wanted = [
        Wanted(
            TOPIC,
            topic.name,
            None,
            {"before_offset": {str(one.partition_index): one.offset for one in topic.partitions}},
        )
        for topic in request.topics
    ]
    return _read("DELETE", wanted, _worst_by_name("topics"))


def of_reassignment(request: Any, image: ClusterImage) -> Read:
    wanted = [
        Wanted(
            TOPIC,
            topic.name,
            _replicas(image, topic.name, [one.partition_index for one in topic.partitions]),
            {"replicas": {str(one.partition_index): one.replicas for one in topic.partitions}},
        )
        for topic in request.topics
    ]
    return _read("ALTER", wanted, _worst_by_name("responses"))


def _replicas(image: ClusterImage, name: str, indexes: Iterable[int]) -> Values | None:
    topic = image.topics.get(name)
    if topic is None:
        return None
    found = {index: topic.partitions.get(index) for index in indexes}
    return {"replicas": {str(index): list(one.replicas) for index, one in found.items() if one}}


def of_configs(request: Any, image: ClusterImage) -> Read | None:
    wanted = [
        Wanted(
            _resource_type(resource.resource_type),
            resource.resource_name,
            _shown(_set_before(resource, image)),
            _shown({each.name: _new_value(each) for each in resource.configs}),
        )
        for resource in request.resources
    ]

    def errors(response: Any) -> Iterator[tuple[str, int]]:
        for each in response.responses:
            yield each.resource_name, each.error_code

    return None if request.validate_only else _read("ALTER_CONFIGS", wanted, errors)


def _set_before(resource: Any, image: ClusterImage) -> dict[str, Any]:
    """Of what is changed. The older request takes away all that it does not name."""
    kept = image.configs.of(resource.resource_type, resource.resource_name)
    if not isinstance(resource, AlterConfigsResource):
        return dict(kept)
    return {each.name: kept.get(each.name) for each in resource.configs}


def _new_value(config: Any) -> Any:
    operation = getattr(config, "config_operation", _SET)
    if operation == _DELETE:
        return None
    word = _WORDS.get(operation)
    return config.value if word is None else {word: config.value}


def _shown(values: dict[str, Any]) -> Values:
    """Settings that are secret, or unknown and perhaps so, have no value on record."""
    return {
        name: HIDDEN if value is not None and _is_secret(name) else value
        for name, value in values.items()
    }


def _is_secret(name: str) -> bool:
    key = find_broker_key(name)
    return key is not None and key.is_sensitive


def _resource_type(number: int) -> str:
    try:
        return ResourceType(number).name
    except ValueError:
        return str(number)


def of_quotas(request: Any, image: ClusterImage) -> Read | None:
    wanted = []
    for entry in request.entries:
        entity = frozenset((each.entity_type, each.entity_name) for each in entry.entity)
        kept = {
            key: each.value
            for (owner, key), each in image.security.quotas.items()
            if owner == entity
        }
        wanted.append(
            Wanted(
                "CLIENT_QUOTA",
                _quota_name(entry.entity),
                {each.key: kept.get(each.key) for each in entry.ops},
                {each.key: None if each.remove else each.value for each in entry.ops},
            )
        )

    def errors(response: Any) -> Iterator[tuple[str, int]]:
        for each in response.entries:
            yield _quota_name(each.entity), each.error_code

    return None if request.validate_only else _read("ALTER_CONFIGS", wanted, errors)


def _quota_name(entity: Iterable[Any]) -> str:
    named = sorted((each.entity_type, each.entity_name) for each in entity)
    return ",".join(f"{kind}={'<default>' if name is None else name}" for kind, name in named)


def of_scram(request: Any, image: ClusterImage) -> Read:
    """That a password was changed, and not to what."""
    wanted = [
        Wanted(USER, each.name, None, {"mechanism": each.mechanism, "iterations": each.iterations})
        for each in request.upsertions
    ]
    wanted += [Wanted(USER, each.name, {"mechanism": each.mechanism}) for each in request.deletions]

    def errors(response: Any) -> Iterator[tuple[str, int]]:
        for each in response.results:
            yield each.user, each.error_code

    return _read("ALTER", wanted, errors)


def of_groups_deleted(request: Any, image: ClusterImage) -> Read:
    wanted = [Wanted(GROUP, name) for name in request.groups_names]

    def errors(response: Any) -> Iterator[tuple[str, int]]:
        for each in response.results:
            yield each.group_id, each.error_code

    return _read("DELETE", wanted, errors)


def of_offsets_deleted(request: Any, image: ClusterImage) -> Read:
    offsets = {
        topic.name: [each.partition_index for each in topic.partitions] for topic in request.topics
    }
    return _read("DELETE", [Wanted(GROUP, request.group_id, {"offsets": offsets})], _nothing)


def of_share_offsets_altered(request: Any, image: ClusterImage) -> Read:
    offsets = {
        topic.topic_name: {each.partition_index: each.start_offset for each in topic.partitions}
        for topic in request.topics
    }
    wanted = [Wanted(GROUP, request.group_id, None, {"offsets": offsets})]
    return _read("ALTER", wanted, _nothing)


def of_share_offsets_deleted(request: Any, image: ClusterImage) -> Read:
    topics = [topic.topic_name for topic in request.topics]
    return _read("DELETE", [Wanted(GROUP, request.group_id, {"offsets": topics})], _nothing)


def of_acls_created(request: Any, image: ClusterImage) -> Read:
    def read(answer: Any) -> Iterator[Entry]:
        for place, each in enumerate(request.creations):
            error = answer if isinstance(answer, ErrorCode) else answer.results[place].error_code
            yield Change("ALTER", ACL, each.resource_name, int(error), None, _acl(each))

    return read


def of_acls_deleted(request: Any, image: ClusterImage) -> Read:
    """What the filters matched, one by one."""

    def read(answer: Any) -> Iterator[Entry]:
        if isinstance(answer, ErrorCode):
            yield Change("ALTER", ACL, CLUSTER_NAME, int(answer))
            return
        for result in answer.filter_results:
            if result.error_code:
                yield Change("ALTER", ACL, CLUSTER_NAME, result.error_code)
            for each in result.matching_acls:
                yield Change("ALTER", ACL, each.resource_name, each.error_code, _acl(each))

    return read


def _acl(entry: Entity) -> Values:
    return {
        field.name: getattr(entry, field.name)
        for field in entry.SCHEMA
        if "error" not in field.name
    }


def of_cluster(operation: str) -> Callable[[Any, ClusterImage], Read]:
    """Changes that are on record by the name of their API and what was asked for."""

    def watch(request: Entity, image: ClusterImage) -> Read:
        asked = {
            field.name: value
            for field in request.SCHEMA
            if isinstance(value := getattr(request, field.name), bool | int | str)
        }
        return _read(operation, [Wanted(CLUSTER, CLUSTER_NAME, None, asked)], _nothing)

    return watch


def _nothing(response: Any) -> Iterable[tuple[str, int]]:
    return ()


def _by_name(array: str) -> Errors:
    return lambda response: ((each.name, each.error_code) for each in getattr(response, array))


def _worst_by_name(array: str) -> Errors:
    def errors(response: Any) -> Iterator[tuple[str, int]]:
        for topic in getattr(response, array):
            yield (
                topic.name,
                next((one.error_code for one in topic.partitions if one.error_code), 0),
            )

    return errors


BY_API: Final[dict[int, Callable[[Any, ClusterImage], Read | None]]] = {
    19: of_create_topics,
    20: of_delete_topics,
    21: of_delete_records,
    30: of_acls_created,
    31: of_acls_deleted,
    33: of_configs,
    34: of_cluster("ALTER"),
    37: of_create_partitions,
    38: of_cluster("CREATE_TOKENS"),
    42: of_groups_deleted,
    43: of_cluster("ALTER"),
    44: of_configs,
    45: of_reassignment,
    47: of_offsets_deleted,
    49: of_quotas,
    51: of_scram,
    57: of_cluster("ALTER"),
    64: of_cluster("ALTER"),
    80: of_cluster("ALTER"),
    81: of_cluster("ALTER"),
    91: of_share_offsets_altered,
    92: of_share_offsets_deleted,
}
