"""A broker's configuration: what the file and the command line said, and dynamic changes on top.

Immutable: `with_dynamic` gives a new one. Nothing here opens a socket, creates a directory or
checks that one exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, Final

from penstock.settings.broker import find_broker_key, is_usable, unknown_name
from penstock.settings.error import SettingError
from penstock.settings.key import UNREAD, ValueProblem
from penstock.settings.promise import broken_promise, is_promised
from penstock.settings.properties import PropertiesProblem, parse_properties
from penstock.settings.relation import RelationProblem, check_relations
from penstock.settings.synonym import of_listener

_NONE: Final[Mapping[str, str]] = {}


class Assignment:
    """`key=value` and where it was found, for messages."""

    __slots__ = ("key", "source", "value")

    def __init__(self, key: str, value: str, source: str) -> None:
        self.key = key
        self.value = value
        self.source = source


class BrokerConfig:
    """`static` holds what was set explicitly at the start; `dynamic` what was changed for this
    broker, `dynamic_default` for every broker, by clients since then."""

    __slots__ = ("_values", "dynamic", "dynamic_default", "ignored", "static", "topic_cache")

    def __init__(
        self,
        static: Mapping[str, str] = _NONE,
        dynamic: Mapping[str, str] = _NONE,
        dynamic_default: Mapping[str, str] = _NONE,
    ) -> None:
        self.static = static
        self.dynamic = dynamic
        self.dynamic_default = dynamic_default
        self.ignored: frozenset[str] = frozenset()
        self._values: dict[str, Any] = {}
        self.topic_cache: dict[frozenset[tuple[str, str]], Any] = {}

    @classmethod
    def load(
        cls, path: str | PathLike[str] | None = None, assignments: Iterable[str] = ()
    ) -> BrokerConfig:
        """From a properties file and `key=value` texts, the latter winning."""
        read = [] if path is None else read_file(path)
        read.extend(parse_assignment(text) for text in assignments)
        return cls.from_assignments(read)

    @classmethod
    def from_assignments(cls, assignments: Iterable[Assignment]) -> BrokerConfig:
        static: dict[str, str] = {}
        sources: dict[str, str] = {}
        for assignment in _resolved(list(assignments)):
            _check(assignment)
            static[assignment.key] = assignment.value
            sources[assignment.key] = assignment.source
        _align_node_id(static, sources)
        config = cls(static)
        _check_whole(config, sources)
        return config

    def with_static(self, settings: Mapping[str, str]) -> BrokerConfig:
        return BrokerConfig({**self.static, **settings}, self.dynamic, self.dynamic_default)

    def with_dynamic(
        self, dynamic: Mapping[str, str], dynamic_default: Mapping[str, str]
    ) -> BrokerConfig:
        """What cannot be followed is left out; `ignored` of the result names it."""
        config = BrokerConfig(self.static, _usable(dynamic), _usable(dynamic_default))
        config.ignored = frozenset(
            (dynamic.keys() - config.dynamic.keys())
            | (dynamic_default.keys() - config.dynamic_default.keys())
        )
        return config

    @property
    def unread(self) -> list[str]:
        """Settings that somebody gave another value than the default, without any effect."""
        return sorted(
            name
            for name, text in {**self.static, **self.dynamic_default, **self.dynamic}.items()
            if (key := find_broker_key(name)) is None
            or (key.effect == UNREAD and not key.is_default(text))
        )

    def get(self, name: str) -> Any:
        """The typed value in force; None where neither a value nor a default is there."""
        try:
            return self._values[name]
        except KeyError:
            value = self._values[name] = self._parse(name)
            return value

    def of_listener(self, listener: str, name: str, mechanism: str = "") -> Any:
        """What a listener, or a mechanism of it, has of its own, else what all have."""
        names = (of_listener(listener, name, mechanism), of_listener(listener, name), name)
        return self.get(next(filter(self.is_set, names), name))

    def raw(self, name: str) -> str | None:
        """The text in force, without the default."""
        for layer in (self.dynamic, self.dynamic_default, self.static):
            if name in layer:
                return layer[name]
        return None

    def is_set(self, name: str) -> bool:
        return self.raw(name) is not None

    def _parse(self, name: str) -> Any:
        key = find_broker_key(name)
        if key is None:
            raise KeyError(name)
        text = self.raw(name)
        if text is None:
            text = key.default
        return None if text is None else key.parse(text)

    @property
    def node_id(self) -> int:
        return int(self.get("node.id"))

    @property
    def rack(self) -> str | None:
        rack: str | None = self.get("broker.rack")
        return rack

    @property
    def log_dirs(self) -> list[str]:
        return list(self.get("log.dirs") or self.get("log.dir"))

    @property
    def cordoned_log_dirs(self) -> list[str]:
        """As they are written; `cordon` says which directories that means."""
        return list(self.get("cordoned.log.dirs"))

    @property
    def creates_topics(self) -> bool:
        return bool(self.get("auto.create.topics.enable"))

    @property
    def request_bytes_max(self) -> int:
        return int(self.get("socket.request.max.bytes"))

    @property
    def request_memory_bytes(self) -> int:
        return int(self.get("penstock.memory.request.bytes"))

    @property
    def request_elements_max(self) -> int:
        return int(self.get("penstock.request.elements.max"))

    @property
    def open_files_max(self) -> int:
        return int(self.get("penstock.open.files.max"))

    @property
    def idle_ms_max(self) -> int:
        return int(self.get("connections.max.idle.ms"))

    @property
    def fetch_bytes_max(self) -> int:
        return int(self.get("fetch.max.bytes"))

    @property
    def fetch_sessions_max(self) -> int:
        return int(self.get("max.incremental.fetch.session.cache.slots"))

    @property
    def producer_expiration_ms(self) -> int:
        return int(self.get("producer.id.expiration.ms"))


def read_file(path: str | PathLike[str]) -> list[Assignment]:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise SettingError(f"{path}: cannot read the configuration file: {reason}") from error
    try:
        return [Assignment(p.key, p.value, f"{path}:{p.line}") for p in parse_properties(text)]
    except PropertiesProblem as problem:
        raise SettingError(f"{path}:{problem.line}: {problem}") from None


def parse_assignment(text: str, source: str = "--set") -> Assignment:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise SettingError(f"{source} {text}: expected key=value")
    return Assignment(key.strip(), value.strip(), source)


def _resolved(assignments: list[Assignment]) -> list[Assignment]:
    """With the values that are kept elsewhere."""
    written = {each.key: each.value for each in assignments}
    providers = written.get("config.providers")
    if providers is None:
        return assignments
    from penstock.settings.provider import References  # few have any

    resolve = References(providers, written).resolve
    return [
        Assignment(each.key, resolve(each.key, each.value, each.source), each.source)
        for each in assignments
    ]


def _check(assignment: Assignment) -> None:
    key = find_broker_key(assignment.key)
    if key is None:
        unknown = unknown_name(assignment.key)
        raise SettingError(f"{assignment.source}: unknown setting {unknown}")
    try:
        key.parse(assignment.value)
    except ValueProblem as problem:
        raise SettingError(f"{assignment.source}: {problem}") from None


def _check_whole(config: BrokerConfig, sources: Mapping[str, str]) -> None:
    """What counts is what is left when the command line has had its say."""
    for name, text in config.static.items():
        key = find_broker_key(name)
        if key is not None and is_promised(key, text):
            raise SettingError(f"{sources[name]}: {broken_promise(key, text)}")
    try:
        check_relations(config, config.static)
    except RelationProblem as problem:
        name = problem.name
        raise SettingError(
            f"{sources[name]}: {name}={config.static[name].strip()}: {problem}"
        ) from None


def _usable(overrides: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in overrides.items() if is_usable(name, text)}


def _align_node_id(static: dict[str, str], sources: dict[str, str]) -> None:
    """`broker.id` is the older name of `node.id`; where one is given, both have it."""
    old, new = static.get("broker.id"), static.get("node.id")
    if old is not None and old.strip() == "-1":
        return
    if old is not None and new is not None and int(old) != int(new):
        raise SettingError(f"{sources['broker.id']}: broker.id {old} differs from node.id {new}")
    if old is not None:
        static["node.id"] = old
    elif new is not None:
        static["broker.id"] = new
