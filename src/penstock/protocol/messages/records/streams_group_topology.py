"""StreamsGroupTopology (number 23). Written by tools/generate_protocol.py.

StreamsGroupTopologyKey 0-0, StreamsGroupTopologyValue 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class StreamsGroupTopologyKey(Entity):
    __slots__ = ("group_id",)
    NAME = "StreamsGroupTopologyKey"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 23
    SCHEMA = (Field("group_id", "string", (0, 0)),)

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id: str = group_id


class TopicConfig(Entity):
    __slots__ = (
        "key",
        "value",
    )
    NAME = "TopicConfig"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("key", "string", (0, 0)),
        Field("value", "string", (0, 0)),
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key: str = key
        self.value: str = value


class TopicInfo(Entity):
    __slots__ = (
        "name",
        "partitions",
        "replication_factor",
        "topic_configs",
    )
    NAME = "TopicInfo"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("name", "string", (0, 0)),
        Field("partitions", "int32", (0, 0)),
        Field("replication_factor", "int16", (0, 0)),
        Field("topic_configs", TopicConfig, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: Iterable[TopicConfig] = (),
    ) -> None:
        self.name: str = name
        self.partitions: int = partitions
        self.replication_factor: int = replication_factor
        self.topic_configs: list[TopicConfig] = (
            topic_configs if isinstance(topic_configs, list) else list(topic_configs)
        )


class CopartitionGroup(Entity):
    __slots__ = (
        "repartition_source_topics",
        "source_topic_regex",
        "source_topics",
    )
    NAME = "CopartitionGroup"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("source_topics", "int16", (0, 0), array=True),
        Field("source_topic_regex", "int16", (0, 0), array=True),
        Field("repartition_source_topics", "int16", (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        source_topics: Iterable[int] = (),
        source_topic_regex: Iterable[int] = (),
        repartition_source_topics: Iterable[int] = (),
    ) -> None:
        self.source_topics: list[int] = (
            source_topics if isinstance(source_topics, list) else list(source_topics)
        )
        self.source_topic_regex: list[int] = (
            source_topic_regex if isinstance(source_topic_regex, list) else list(source_topic_regex)
        )
        self.repartition_source_topics: list[int] = (
            repartition_source_topics
            if isinstance(repartition_source_topics, list)
            else list(repartition_source_topics)
        )


class Subtopology(Entity):
    __slots__ = (
        "copartition_groups",
        "repartition_sink_topics",
        "repartition_source_topics",
        "source_topic_regex",
        "source_topics",
        "state_changelog_topics",
        "subtopology_id",
    )
    NAME = "Subtopology"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("subtopology_id", "string", (0, 0)),
        Field("source_topics", "string", (0, 0), array=True),
        Field("source_topic_regex", "string", (0, 0), array=True),
        Field("state_changelog_topics", TopicInfo, (0, 0), array=True),
        Field("repartition_sink_topics", "string", (0, 0), array=True),
        Field("repartition_source_topics", TopicInfo, (0, 0), array=True),
        Field("copartition_groups", CopartitionGroup, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        source_topics: Iterable[str] = (),
        source_topic_regex: Iterable[str] = (),
        state_changelog_topics: Iterable[TopicInfo] = (),
        repartition_sink_topics: Iterable[str] = (),
        repartition_source_topics: Iterable[TopicInfo] = (),
        copartition_groups: Iterable[CopartitionGroup] = (),
    ) -> None:
        self.subtopology_id: str = subtopology_id
        self.source_topics: list[str] = (
            source_topics if isinstance(source_topics, list) else list(source_topics)
        )
        self.source_topic_regex: list[str] = (
            source_topic_regex if isinstance(source_topic_regex, list) else list(source_topic_regex)
        )
        self.state_changelog_topics: list[TopicInfo] = (
            state_changelog_topics
            if isinstance(state_changelog_topics, list)
            else list(state_changelog_topics)
        )
        self.repartition_sink_topics: list[str] = (
            repartition_sink_topics
            if isinstance(repartition_sink_topics, list)
            else list(repartition_sink_topics)
        )
        self.repartition_source_topics: list[TopicInfo] = (
            repartition_source_topics
            if isinstance(repartition_source_topics, list)
            else list(repartition_source_topics)
        )
        self.copartition_groups: list[CopartitionGroup] = (
            copartition_groups if isinstance(copartition_groups, list) else list(copartition_groups)
        )


class StreamsGroupTopologyValue(Entity):
    __slots__ = (
        "epoch",
        "subtopologies",
    )
    NAME = "StreamsGroupTopologyValue"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 23
    SCHEMA = (
        Field("epoch", "int32", (0, 0)),
        Field("subtopologies", Subtopology, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        epoch: int = 0,
        subtopologies: Iterable[Subtopology] = (),
    ) -> None:
        self.epoch: int = epoch
        self.subtopologies: list[Subtopology] = (
            subtopologies if isinstance(subtopologies, list) else list(subtopologies)
        )
