"""What settings have to be to each other, in Kafka's words.

A value that is valid by itself may still contradict another: these are the rules a broker's
configuration is held to as a whole, at the start and at every change.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from penstock.settings.key import ValueProblem
from penstock.settings.synonym import TOPIC_TO_BROKER, to_ms

if TYPE_CHECKING:
    from penstock.settings.config import BrokerConfig

MB: Final = 1024 * 1024


class RelationProblem(ValueProblem):
    """`name` is the setting that was given, which the complaint may know by another name."""

    def __init__(self, name: str, complaint: str) -> None:
        super().__init__(complaint)
        self.name = name


class _Order(NamedTuple):
    """`lower` must not be above `upper`, and not as high where `strict`."""

    lower: str
    upper: str
    complaint: str
    strict: bool = False


def _bounded(kind: str, what: str, *, above: str) -> Iterator[_Order]:
    name = f"group.{kind}.{what}"
    least, most = f"group.{kind}.min.{what}", f"group.{kind}.max.{what}"
    yield _Order(least, most, f"{most} must be greater than or equal to {least}")
    yield _Order(least, name, f"{name} must be greater than or equal to {least}")
    yield _Order(name, most, above.format(name=name, most=most))


def _orders() -> Iterator[_Order]:
    less = "{name} must be less than or equal to {most}"
    for kind in ("consumer", "share", "streams"):
        for what in ("session.timeout.ms", "heartbeat.interval.ms", "assignment.interval.ms"):
            yield from _bounded(kind, what, above=less)
        beat, session = f"group.{kind}.heartbeat.interval.ms", f"group.{kind}.session.timeout.ms"
        yield _Order(beat, session, f"{beat} must be less than {session}", strict=True)
    for what in ("record.lock.duration.ms", "delivery.count.limit", "partition.max.record.locks"):
        more = "{most} must be greater than or equal to {name}"
        yield from _bounded("share", what, above=more)
    yield _Order(
        "group.share.max.size",
        "group.share.max.share.sessions",
        "group.share.max.share.sessions must be greater than or equal to group.share.max.size",
    )
    yield _Order(
        "group.streams.num.standby.replicas",
        "group.streams.max.standby.replicas",
        less.format(
            name="group.streams.num.standby.replicas", most="group.streams.max.standby.replicas"
        ),
    )
    yield _Order(
        "replica.fetch.wait.max.ms",
        "replica.socket.timeout.ms",
        "replica.socket.timeout.ms should always be at least replica.fetch.wait.max.ms",
    )
    yield _Order(
        "replica.fetch.wait.max.ms",
        "replica.lag.time.max.ms",
        "replica.fetch.wait.max.ms should always be less than or equal to replica.lag.time.max.ms",
    )


_ORDERS: Final = tuple(_orders())


def _retention(config: BrokerConfig) -> str | None:
    if _in_ms(config, "retention.ms") != 0:
        return None
    return "log.retention.ms must be unlimited (-1) or, greater than or equal to 1"


def _roll(config: BrokerConfig) -> str | None:
    if _in_ms(config, "segment.ms") >= 1:
        return None
    return "log.roll.ms must be greater than or equal to 1"


def _jitter(config: BrokerConfig) -> str | None:
    if _in_ms(config, "segment.jitter.ms") >= 0:
        return None
    return "log.roll.jitter.ms must be greater than or equal to 0"


def _key_map(config: BrokerConfig) -> str | None:
    threads = int(config.get("log.cleaner.threads"))
    if threads and int(config.get("log.cleaner.dedupe.buffer.size")) // threads > MB:
        return None
    return (
        "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread, and "
        "log.cleaner.threads at least 1"
    )


def _idle(config: BrokerConfig) -> str | None:
    delay, idle = "connection.failed.authentication.delay.ms", "connections.max.idle.ms"
    delay_ms, idle_ms = int(config.get(delay)), int(config.get(idle))
    if idle_ms < 0 or delay_ms < idle_ms:
        return None
    return f"{delay}={delay_ms} should always be less than {idle}={idle_ms}"


def _queued(config: BrokerConfig) -> str | None:
    queued, request = "queued.max.request.bytes", "socket.request.max.bytes"
    if int(config.get(queued)) <= 0 or int(config.get(queued)) >= int(config.get(request)):
        return None
    return f"{queued} must be larger or equal to {request}"


def _auto_join(config: BrokerConfig) -> str | None:
    key = "controller.quorum.auto.join.enable"
    if not config.get(key) or "controller" in config.get("process.roles"):
        return None
    return f"{key} is only supported when process.roles contains the 'controller' role; remove it"


def _inter_broker(config: BrokerConfig) -> str | None:
    name, protocol = "inter.broker.listener.name", "security.inter.broker.protocol"
    if not (config.is_set(name) and config.is_set(protocol)):
        return None
    return f"Only one of {name} and {protocol} should be set; keep {name}"


def _per_ip(config: BrokerConfig) -> str | None:
    most, others = "max.connections.per.ip", "max.connections.per.ip.overrides"
    if int(config.get(most)) > 0 or str(config.get(others)).strip():
        return None
    return f"{most} can be set to zero only if {others} property is set."


_Rule = Callable[["BrokerConfig"], str | None]

_RULES: Final[tuple[tuple[tuple[str, ...], _Rule], ...]] = (
    (TOPIC_TO_BROKER["retention.ms"], _retention),
    (TOPIC_TO_BROKER["segment.ms"], _roll),
    (TOPIC_TO_BROKER["segment.jitter.ms"], _jitter),
    (("log.cleaner.threads", "log.cleaner.dedupe.buffer.size"), _key_map),
    (("connection.failed.authentication.delay.ms", "connections.max.idle.ms"), _idle),
    (("queued.max.request.bytes", "socket.request.max.bytes"), _queued),
    (("controller.quorum.auto.join.enable",), _auto_join),
    (("inter.broker.listener.name",), _inter_broker),
    (("max.connections.per.ip", "max.connections.per.ip.overrides"), _per_ip),
)


def check_relations(config: BrokerConfig, names: Container[str]) -> None:
    """Raises RelationProblem where one of the settings just given contradicts another."""
    for keys, rule in _RULES:
        given = next((key for key in keys if key in names), None)
        complaint = None if given is None else rule(config)
        if given is not None and complaint is not None:
            raise RelationProblem(given, complaint)
    for order in _ORDERS:
        given = next((key for key in order[:2] if key in names), None)
        if given is not None:
            lower, upper = config.get(order.lower), config.get(order.upper)
            if lower > upper or (order.strict and lower == upper):
                raise RelationProblem(given, order.complaint)


def _in_ms(config: BrokerConfig, topic_name: str) -> int:
    """What a topic has unless it sets it itself, by whichever of the broker's names."""
    for name in TOPIC_TO_BROKER[topic_name]:
        value = config.get(name)
        if value is not None:
            return to_ms(name, int(value))
    raise KeyError(topic_name)
