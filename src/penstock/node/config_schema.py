"""What the controller asks about settings, answered from their declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from penstock.controller.config import TopicConfigEntry
from penstock.metadata.config import ResourceType
from penstock.settings.broker import BROKER_KEYS, validate_broker_overrides
from penstock.settings.config import BrokerConfig
from penstock.settings.describe import describe_topic
from penstock.settings.key import LIST, Key
from penstock.settings.topic import TOPIC_KEYS, validate_topic_overrides


class DeclaredSettings:
    """`config` gives the broker's configuration as it is now: clients change it while it runs."""

    def __init__(self, config: Callable[[], BrokerConfig]) -> None:
        self._config = config

    def check_topic(self, values: Mapping[str, str]) -> None:
        validate_topic_overrides(values)

    def check_broker(self, values: Mapping[str, str], *, per_broker: bool) -> None:
        validate_broker_overrides(values, per_broker=per_broker)

    def check_other(self, resource_type: int, name: str, values: Mapping[str, str]) -> None:
        """Groups and client metrics have settings of their own once they are served."""

    def is_list(self, resource_type: int, key: str) -> bool:
        declared = _keys(resource_type).get(key)
        return declared is not None and declared.type == LIST

    def default_of(self, resource_type: int, key: str) -> str | None:
        declared = _keys(resource_type).get(key)
        return None if declared is None else declared.default

    def describe_topic(self, overrides: Mapping[str, str]) -> Iterable[TopicConfigEntry]:
        entries = describe_topic(self._config(), overrides)
        for entry in sorted(entries, key=lambda entry: entry.name):
            yield TopicConfigEntry(
                entry.name, entry.value, entry.source, entry.is_sensitive, entry.read_only
            )


def _keys(resource_type: int) -> Mapping[str, Key]:
    return TOPIC_KEYS if resource_type == ResourceType.TOPIC else BROKER_KEYS
