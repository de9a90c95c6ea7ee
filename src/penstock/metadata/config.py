"""Settings held by the cluster, per resource: what was set, not what is in effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Final, NamedTuple


class ResourceType(IntEnum):
    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigResource(NamedTuple):
    """Broker "" stands for every broker. The type stays a number: the log may hold newer ones."""

    type: int
    name: str


_NOTHING: Final[Mapping[str, str]] = {}


class ConfigImage:
    __slots__ = ("_by_resource",)

    def __init__(self) -> None:
        self._by_resource: dict[ConfigResource, dict[str, str]] = {}

    def __iter__(self) -> Iterator[tuple[ConfigResource, Mapping[str, str]]]:
        return iter(self._by_resource.items())

    def __len__(self) -> int:
        return len(self._by_resource)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConfigImage) and self._by_resource == other._by_resource

    __hash__ = None  # type: ignore[assignment]

    def replace(self, other: ConfigImage) -> None:
        """Hold what the other holds, in containers of its own."""
        self._by_resource = {resource: dict(values) for resource, values in other}

    def of(self, resource_type: int, name: str) -> Mapping[str, str]:
        return self._by_resource.get(ConfigResource(resource_type, name), _NOTHING)

    def topic(self, name: str) -> Mapping[str, str]:
        return self.of(ResourceType.TOPIC, name)

    def broker(self, broker_id: int | None) -> Mapping[str, str]:
        """None asks for what is set for every broker."""
        return self.of(ResourceType.BROKER, "" if broker_id is None else str(broker_id))

    def names(self, resource_type: int) -> list[str]:
        return [name for type_, name in self._by_resource if type_ == resource_type]

    def put(self, resource: ConfigResource, key: str, value: str | None) -> None:
        if value is not None:
            self._by_resource.setdefault(resource, {})[key] = value
            return
        values = self._by_resource.get(resource)
        if values is not None:
            values.pop(key, None)
            if not values:
                del self._by_resource[resource]

    def drop(self, resource: ConfigResource) -> bool:
        return self._by_resource.pop(resource, None) is not None
