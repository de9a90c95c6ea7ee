"""One request, with what its client may do: what guards work with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.coordinator_call import mapped
from penstock.handlers.table import Handler
from penstock.model.acl import CLUSTER_NAME, OPERATIONS, Operation, ResourceType
from penstock.protocol.entity import Entity
from penstock.security.access import Access

T = TypeVar("T")
ResponseT = TypeVar("ResponseT", bound=Entity)


class Asked:
    __slots__ = ("_handle", "access", "broker", "call")

    def __init__(self, broker: Broker, call: Call, access: Access, handle: Handler) -> None:
        self.broker = broker
        self.call = call
        self.access = access
        self._handle = handle

    @property
    def version(self) -> int:
        return self.call.version

    # What the client may do

    def may_topic(self, operation: Operation, name: str) -> bool:
        return self.access.may(operation, ResourceType.TOPIC, name)

    def may_group(self, operation: Operation, name: str) -> bool:
        return self.access.may(operation, ResourceType.GROUP, name)

    def may_transact(self, operation: Operation, name: str) -> bool:
        return self.access.may(operation, ResourceType.TRANSACTIONAL_ID, name)

    def may_cluster(self, operation: Operation) -> bool:
        return self.access.may(operation, ResourceType.CLUSTER, CLUSTER_NAME)

    def operations(self, resource_type: ResourceType, name: str) -> int:
        """As a set of bits: what responses call authorized operations."""
        return sum(
            1 << operation
            for operation in OPERATIONS[resource_type]
            if self.access.may(operation, resource_type, name)
        )

    def cluster_operations(self) -> int:
        """Nothing is told to whom the cluster is not to be described."""
        if not self.may_cluster(Operation.DESCRIBE):
            return 0
        return self.operations(ResourceType.CLUSTER, CLUSTER_NAME)

    # Topics by id

    def topic_name(self, name: str, topic_id: bytes) -> str | None:
        """None for an id that nobody has."""
        if name:
            return name
        topic = self.broker.image.topics.get_by_id(topic_id)
        return None if topic is None else topic.name

    # What becomes of the request

    def answer(self, request: Entity) -> Answer:
        return self._handle(self.broker, request, self.call)

    def answer_then(self, request: Entity, change: Callable[[Any], Any]) -> Answer:
        return mapped(self.answer(request), change)

    def answer_rest(
        self,
        request: Entity,
        rest: Sequence[object],
        response: type[ResponseT],
        array: str,
        refused: Sequence[Entity],
    ) -> Answer:
        """What is left of the request is answered, and the refusals come behind in `array`."""
        if not refused:
            return self.answer(request)

        def add(answer: ResponseT) -> ResponseT:
            getattr(answer, array).extend(refused)
            return answer

        if not rest:
            return add(response())
        return self.answer_then(request, add)


def split(items: Iterable[T], is_allowed: Callable[[T], bool]) -> tuple[list[T], list[T]]:
    """Those that are allowed, and the others."""
    allowed: list[T] = []
    refused: list[T] = []
    for item in items:
        (allowed if is_allowed(item) else refused).append(item)
    return allowed, refused
