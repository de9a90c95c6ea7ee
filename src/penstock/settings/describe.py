"""What DescribeConfigs answers: every setting with its value, where that came from, and what it
would fall back to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from penstock.settings.broker import (
    BROKER_KEYS,
    DYNAMIC_ONLY_KEYS,
    HIDDEN_KEYS,
    MADE_BY_CONTROLLER,
    find_broker_key,
)
from penstock.settings.client_metrics import CLIENT_METRICS_KEYS
from penstock.settings.config import BrokerConfig
from penstock.settings.group import GROUP_KEYS, broker_name
from penstock.settings.key import READ_ONLY, UNKNOWN, Key, render
from penstock.settings.resolve import topic_value
from penstock.settings.synonym import TOPIC_TO_BROKER, broker_chain
from penstock.settings.topic import TOPIC_KEYS

DYNAMIC_TOPIC_CONFIG: Final = 1
DYNAMIC_BROKER_CONFIG: Final = 2
DYNAMIC_DEFAULT_BROKER_CONFIG: Final = 3
STATIC_BROKER_CONFIG: Final = 4
DEFAULT_CONFIG: Final = 5
DYNAMIC_BROKER_LOGGER_CONFIG: Final = 6
CLIENT_METRICS_CONFIG: Final = 7
GROUP_CONFIG: Final = 8


class Synonym(NamedTuple):
    name: str
    value: str | None
    source: int


class Entry(NamedTuple):
    name: str
    value: str | None
    source: int
    is_sensitive: bool
    read_only: bool
    type: int
    key: Key
    synonyms: Sequence[Synonym]

    @property
    def documentation(self) -> str:
        return self.key.documentation


def describe_topic(config: BrokerConfig, overrides: Mapping[str, str]) -> list[Entry]:
    return [_describe_topic_key(config, overrides, key) for key in TOPIC_KEYS.values()]


def describe_group(config: BrokerConfig, overrides: Mapping[str, str]) -> list[Entry]:
    return [_describe_group_key(config, overrides, key) for key in GROUP_KEYS.values()]


def describe_client_metrics(overrides: Mapping[str, str]) -> list[Entry]:
    """Also of a subscription that nobody has set up: then they are the defaults."""
    return [_describe_metrics_key(overrides, key) for key in CLIENT_METRICS_KEYS.values()]


def describe_logger(name: str, level: str) -> Entry:
    key = Key(name, UNKNOWN)
    return Entry(name, level, DYNAMIC_BROKER_LOGGER_CONFIG, False, False, key.type, key, ())


def describe_broker(config: BrokerConfig) -> list[Entry]:
    """Every declared setting, and those set under names that are not declared."""
    names = dict.fromkeys(BROKER_KEYS)
    for layer in (config.static, config.dynamic, config.dynamic_default):
        names.update(dict.fromkeys(name for name in layer if name not in HIDDEN_KEYS))
    return [_describe_broker_key(config, find_broker_key(name) or Key(name, 0)) for name in names]


def describe_broker_default(config: BrokerConfig) -> list[Entry]:
    """The resource without a name: only what somebody changed for all brokers at once."""
    entries = []
    for name, text in config.dynamic_default.items():
        if name in MADE_BY_CONTROLLER:
            continue
        key = find_broker_key(name) or Key(name, UNKNOWN)
        value = _shown(key, text)
        synonym = Synonym(name, value, DYNAMIC_DEFAULT_BROKER_CONFIG)
        entries.append(_entry(key, value, _is_read_only(key), [synonym]))
    return entries


def _describe_topic_key(config: BrokerConfig, overrides: Mapping[str, str], key: Key) -> Entry:
    value = render(topic_value(config, overrides, key.name))
    chain = TOPIC_TO_BROKER.get(key.name)
    synonyms = [] if chain is None else _broker_synonyms(config, chain[0])
    if key.name in overrides:
        synonyms.insert(0, Synonym(key.name, value, DYNAMIC_TOPIC_CONFIG))
    return _entry(key, value, False, synonyms)


def _describe_group_key(config: BrokerConfig, overrides: Mapping[str, str], key: Key) -> Entry:
    of_broker = broker_name(key.name)
    synonyms = [] if of_broker is None else _broker_synonyms(config, of_broker)
    if key.name in overrides:
        synonyms.insert(0, Synonym(key.name, _shown(key, overrides[key.name]), GROUP_CONFIG))
    value = synonyms[0].value if synonyms else _shown(key, key.default)
    return _entry(key, value, False, synonyms)


def _describe_metrics_key(overrides: Mapping[str, str], key: Key) -> Entry:
    if key.name not in overrides:
        return _entry(key, _shown(key, key.default), False, [])
    value = _shown(key, overrides[key.name])
    return _entry(key, value, False, [Synonym(key.name, value, CLIENT_METRICS_CONFIG)])


def _describe_broker_key(config: BrokerConfig, key: Key) -> Entry:
    synonyms = _broker_synonyms(config, key.name)
    text = config.raw(key.name)
    value = _shown(key, key.default if text is None else text)
    return _entry(key, value, _is_read_only(key), synonyms)


def _is_read_only(key: Key) -> bool:
    """As Kafka says it, also of what can be set under names that it does not declare."""
    return key.update_mode == READ_ONLY or key.name not in BROKER_KEYS


def _entry(key: Key, value: str | None, read_only: bool, synonyms: list[Synonym]) -> Entry:
    source = synonyms[0].source if synonyms else DEFAULT_CONFIG
    return Entry(key.name, value, source, key.is_sensitive, read_only, key.type, key, synonyms)


def _broker_synonyms(config: BrokerConfig, name: str) -> list[Synonym]:
    """Layer by layer, and within one by the chain.

    Kafka lists nothing in front of the first appearance of the name itself, so that a setting
    given only in other units has no synonyms at all.
    """
    keys = [find_broker_key(link) or Key(link, UNKNOWN) for link in broker_chain(name)]
    defaults = {
        key.name: key.default
        for key in keys
        if key.default is not None and key.name not in DYNAMIC_ONLY_KEYS
    }
    found: list[Synonym] = []
    for layer, source in (
        (config.dynamic, DYNAMIC_BROKER_CONFIG),
        (config.dynamic_default, DYNAMIC_DEFAULT_BROKER_CONFIG),
        (config.static, STATIC_BROKER_CONFIG),
        (defaults, DEFAULT_CONFIG),
    ):
        for key in keys:
            if key.name in layer and (found or key.name == name):
                found.append(Synonym(key.name, _shown(key, layer[key.name]), source))
    return found


def _shown(key: Key, text: str | None) -> str | None:
    if text is None or key.is_sensitive:
        return None
    return render(key.parse(text))
