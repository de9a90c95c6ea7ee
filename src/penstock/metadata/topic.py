"""Topics by name and by id, each with its partitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.metadata.partition import PartitionImage
from penstock.model.error import InvariantError
from penstock.model.id import TopicId, id_to_str


class TopicImage:
    """Readers see `partitions` change under them as records are replayed, and never change it."""

    __slots__ = ("id", "name", "partitions")

    def __init__(self, name: str, topic_id: TopicId) -> None:
        self.name = name
        self.id = topic_id
        self.partitions: dict[int, PartitionImage] = {}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TopicImage):
            return NotImplemented
        mine = (self.name, self.id, self.partitions)
        return mine == (other.name, other.id, other.partitions)

    __hash__ = None  # type: ignore[assignment]

    def copy(self) -> TopicImage:
        other = TopicImage(self.name, self.id)
        other.partitions = dict(self.partitions)
        return other

    def __repr__(self) -> str:
        return f"TopicImage({self.name!r}, {id_to_str(self.id)}, {self.partitions!r})"


class TopicsImage:
    """Only the image it belongs to calls `add` and `remove`."""

    __slots__ = ("_by_id", "_by_name", "_colliding")

    def __init__(self) -> None:
        self._by_name: dict[str, TopicImage] = {}
        self._by_id: dict[TopicId, TopicImage] = {}
        # Metrics write '.' as '_': two names that differ only there would share one metric.
        self._colliding: dict[str, set[str]] = {}

    def __len__(self) -> int:
        return len(self._by_name)

    def __iter__(self) -> Iterator[TopicImage]:
        return iter(self._by_name.values())

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TopicsImage) and self._by_name == other._by_name

    __hash__ = None  # type: ignore[assignment]

    def replace(self, other: TopicsImage) -> None:
        """Hold what the other holds, in containers of its own."""
        self._by_name = {topic.name: topic.copy() for topic in other}
        self._by_id = {topic.id: topic for topic in self}
        self._colliding = {key: set(names) for key, names in other._colliding.items()}

    @property
    def by_name(self) -> Mapping[str, TopicImage]:
        return self._by_name

    @property
    def by_id(self) -> Mapping[TopicId, TopicImage]:
        return self._by_id

    def get(self, name: str) -> TopicImage | None:
        return self._by_name.get(name)

    def get_by_id(self, topic_id: TopicId) -> TopicImage | None:
        return self._by_id.get(topic_id)

    def partition(self, name: str, index: int) -> PartitionImage | None:
        topic = self._by_name.get(name)
        return None if topic is None else topic.partitions.get(index)

    def partition_count(self) -> int:
        return sum(len(topic.partitions) for topic in self._by_name.values())

    def colliding_with(self, name: str) -> str | None:
        """A present topic whose name is the same once dots are underscores."""
        return min(self._colliding.get(name.replace(".", "_"), ()), default=None)

    def require(self, topic_id: TopicId) -> TopicImage:
        topic = self._by_id.get(topic_id)
        if topic is None:
            raise InvariantError(f"metadata log names topic {id_to_str(topic_id)} before making it")
        return topic

    def add(self, topic: TopicImage) -> None:
        if topic.name in self._by_name or topic.id in self._by_id:
            raise InvariantError(f"metadata log makes topic {topic.name} twice")
        self._by_name[topic.name] = topic
        self._by_id[topic.id] = topic
        if "." in topic.name or "_" in topic.name:
            self._colliding.setdefault(topic.name.replace(".", "_"), set()).add(topic.name)

    def remove(self, topic_id: TopicId) -> TopicImage:
        topic = self.require(topic_id)
        del self._by_id[topic_id]
        del self._by_name[topic.name]
        self._forget_collision(topic.name)
        return topic

    def _forget_collision(self, name: str) -> None:
        key = name.replace(".", "_")
        names = self._colliding.get(key)
        if names is not None:
            names.discard(name)
            if not names:
                del self._colliding[key]
