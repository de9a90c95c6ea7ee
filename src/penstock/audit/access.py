"""Reads off requests and answers who reads and writes what."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from penstock.audit.entry import (
    CLUSTER,
    CLUSTER_NAME,
    GROUP,
    REFUSED,
    TOPIC,
    TRANSACTIONAL_ID,
    Access,
    Entry,
    Read,
    topic_name,
)
from penstock.metadata.image import ClusterImage
from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.fetch import FetchRequest, FetchResponse
from penstock.protocol.messages.produce import ProduceRequest, ProduceResponse
from penstock.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from penstock.records.header import BATCH_OVERHEAD

Sizes = dict[tuple[str, int], tuple[int, int]]
"""Records and bytes, by topic and partition."""


def of_produce(request: ProduceRequest, image: ClusterImage) -> Read:
    """Its records are only there while the request is served: they are counted now."""
    sizes: Sizes = {
        (topic_name(image, topic.name, topic.topic_id), data.index): _size(data.records)
        for topic in request.topic_data
        for data in topic.partition_data
    }
    return partial(_written, image, sizes)


def _size(records: Any) -> tuple[int, int]:
    """What is no batch is refused, and not counted."""
    if records is None or len(records) < BATCH_OVERHEAD:
        return 0, 0
    return int.from_bytes(records[BATCH_OVERHEAD - 4 : BATCH_OVERHEAD], "big"), len(records)


def _written(
    image: ClusterImage, sizes: Sizes, response: ProduceResponse | ErrorCode | None
) -> Iterator[Entry]:
    errors = dict.fromkeys(sizes, 0)
    if isinstance(response, ErrorCode):
        errors = dict.fromkeys(sizes, int(response))
    elif response is not None:
        for topic in response.responses:
            name = topic_name(image, topic.name, topic.topic_id)
            for answer in topic.partition_responses:
                errors[name, answer.index] = answer.error_code
    sums: dict[tuple[str, int], list[int]] = {}
    for key, error in errors.items():
        if error and error not in REFUSED:
            continue
        summed = sums.setdefault((key[0], error), [0, 0])
        if not error:
            records, size = sizes.get(key, (0, 0))
            summed[0] += records
            summed[1] += size
    for (name, error), (records, size) in sums.items():
        yield Access("WRITE", TOPIC, name, error, records, size)


def of_fetch(request: FetchRequest, image: ClusterImage) -> Read | None:
    """Followers are no readers."""
    state = request.replica_state
    replica_id = request.replica_id if state is None else state.replica_id
    return None if replica_id >= 0 else partial(_read, image)


def _read(image: ClusterImage, response: FetchResponse | ErrorCode) -> Iterator[Entry]:
    if isinstance(response, ErrorCode):
        return
    for topic in response.responses:
        size, refused = 0, 0
        for data in topic.partitions:
            if data.error_code in REFUSED:
                refused = data.error_code
            elif data.records:
                size += len(data.records)
        if size or refused:
            # Share fetches name topics by their ids alone.
            name = topic_name(image, getattr(topic, "topic", ""), topic.topic_id)
            yield Access("READ", TOPIC, name, refused, 0, size)


def of_share_fetch(request: Any, image: ClusterImage) -> Read:
    """As a fetch; who may not be in the group is told so as a whole."""
    return partial(_share_read, image, request.group_id or "")


def _share_read(image: ClusterImage, group_id: str, response: Any) -> Iterator[Entry]:
    refused = getattr(response, "error_code", 0)
    if refused in REFUSED:
        yield Access("READ", GROUP, group_id, refused)
    else:
        yield from _read(image, response)


def of_group(request: Any, image: ClusterImage) -> Read:
    return partial(_of_one, "READ", GROUP, request.group_id)


def of_transactional_offsets(request: TxnOffsetCommitRequest, image: ClusterImage) -> Read:
    """Whoever commits offsets of a topic needs to be allowed to read it, and need not read it."""
    names = [topic.name for topic in request.topics]

    def read(answer: Any) -> Iterator[Entry]:
        for entry in _of_one("READ", GROUP, request.group_id, answer):
            yield entry
            if not entry.error:
                yield from (Access("READ", TOPIC, name) for name in names)

    return read


def of_transactional_id(request: Any, image: ClusterImage) -> Read | None:
    name = request.transactional_id
    return None if name is None else partial(_of_one, "WRITE", TRANSACTIONAL_ID, name)


def _of_one(operation: str, resource_type: str, name: str, answer: Any) -> Iterator[Entry]:
    error = int(answer) if isinstance(answer, ErrorCode) else _worst(answer)
    if not error or error in REFUSED:
        yield Access(operation, resource_type, name, error)


def _worst(answer: Entity) -> int:
    """The answer's own error, or one that refuses a part of it."""
    return getattr(answer, "error_code", 0) or next(
        (each.error for each in refusals(answer) if each.error), 0
    )


def of_anything(request: Entity, image: ClusterImage) -> Read:
    """Asking is not recorded unless it was refused."""
    return _refused


def _refused(answer: Any) -> Iterator[Entry]:
    if isinstance(answer, ErrorCode):
        if answer in REFUSED:
            yield Access("DESCRIBE", CLUSTER, CLUSTER_NAME, answer)
    elif answer is not None:
        yield from refusals(answer)


_NAMES: Final = ("topic_name", "name", "topic", "group_id", "transactional_id")
_TYPES: Final = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: TOPIC,
    ErrorCode.GROUP_AUTHORIZATION_FAILED: GROUP,
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: TRANSACTIONAL_ID,
}
DEPTH_MAX: Final = 3


def refusals(answer: Entity) -> Iterator[Access]:
    """Whatever in an answer says that it was not allowed, once for each resource."""
    return iter(dict.fromkeys(_refusals(answer, "", 0)))


def _refusals(part: Entity, name: str, depth: int) -> Iterator[Access]:
    name = _name_of(part) or name
    code = getattr(part, "error_code", 0)
    if code in REFUSED:
        kind = _TYPES.get(ErrorCode(code), CLUSTER)
        yield Access("DESCRIBE", kind, name if kind != CLUSTER else CLUSTER_NAME, code)
    if depth == DEPTH_MAX:
        return
    for field in part.SCHEMA:
        if field.array and not isinstance(field.type, str):
            for each in getattr(part, field.name) or ():
                yield from _refusals(each, name, depth + 1)


def _name_of(part: Entity) -> str:
    for field in _NAMES:
        found = getattr(part, field, None)
        if isinstance(found, str) and found:
            return found
    return ""


Watch = Callable[[Any, ClusterImage], Read | None]

BY_API: Final[dict[int, Watch]] = {
    0: of_produce,
    1: of_fetch,
    8: of_group,
    11: of_group,
    22: of_transactional_id,
    25: of_group,
    28: of_transactional_offsets,
    68: of_group,
    76: of_group,
    78: of_share_fetch,
    79: of_group,
}
