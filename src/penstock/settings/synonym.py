"""Which broker settings a topic setting falls back to, in the order in which they win."""

from __future__ import annotations

from typing import Final

TOPIC_TO_BROKER: Final[dict[str, tuple[str, ...]]] = {
    "cleanup.policy": ("log.cleanup.policy",),
    "compression.gzip.level": ("compression.gzip.level",),
    "compression.lz4.level": ("compression.lz4.level",),
    "compression.type": ("compression.type",),
    "compression.zstd.level": ("compression.zstd.level",),
    "delete.retention.ms": ("log.cleaner.delete.retention.ms",),
    "file.delete.delay.ms": ("log.segment.delete.delay.ms",),
    "flush.messages": ("log.flush.interval.messages",),
    "flush.ms": ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
    "index.interval.bytes": ("log.index.interval.bytes",),
    "local.retention.bytes": ("log.local.retention.bytes",),
    "local.retention.ms": ("log.local.retention.ms",),
    "max.compaction.lag.ms": ("log.cleaner.max.compaction.lag.ms",),
    "max.message.bytes": ("message.max.bytes",),
    "message.timestamp.after.max.ms": ("log.message.timestamp.after.max.ms",),
    "message.timestamp.before.max.ms": ("log.message.timestamp.before.max.ms",),
    "message.timestamp.type": ("log.message.timestamp.type",),
    "min.cleanable.dirty.ratio": ("log.cleaner.min.cleanable.ratio",),
    "min.compaction.lag.ms": ("log.cleaner.min.compaction.lag.ms",),
    "min.insync.replicas": ("min.insync.replicas",),
    "penstock.record.check": ("penstock.record.check",),
    "preallocate": ("log.preallocate",),
    "retention.bytes": ("log.retention.bytes",),
    "retention.ms": ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
    "segment.bytes": ("log.segment.bytes",),
    "segment.index.bytes": ("log.index.size.max.bytes",),
    "segment.jitter.ms": ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    "segment.ms": ("log.roll.ms", "log.roll.hours"),
    "unclean.leader.election.enable": ("unclean.leader.election.enable",),
}
"""Topic settings that are missing here have no broker-wide counterpart."""

BROKER_TO_TOPIC: Final[dict[str, str]] = {
    broker: topic for topic, names in TOPIC_TO_BROKER.items() for broker in names
}

_CHAINS: Final[dict[str, tuple[str, ...]]] = {
    name: chain for chain in TOPIC_TO_BROKER.values() if len(chain) > 1 for name in chain
}

_MS_PER_UNIT: Final = {".hours": 3_600_000, ".minutes": 60_000}

LISTENER_PREFIX: Final = "listener.name."
MECHANISM_KEYS: Final = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)
"""What may be set for one SASL mechanism of a listener, by its name before the key."""
PROVIDER_PREFIX: Final = "config.providers."
TENANT_PREFIX: Final = "penstock.tenant."


def broker_chain(name: str) -> tuple[str, ...]:
    """The names that may supply the value of a broker setting, strongest first."""
    if name == "log.flush.scheduler.interval.ms":
        return (name,)
    chain = _CHAINS.get(name)
    if chain is not None:
        return chain
    general = without_listener(name)
    return (name,) if general is None else (name, general)


def without_listener(name: str) -> str | None:
    """`listener.name.<listener>.<key>` is `<key>` for one listener only, and
    `listener.name.<listener>.<mechanism>.<key>` for one mechanism of it."""
    if not name.startswith(LISTENER_PREFIX):
        return None
    _, _, general = name[len(LISTENER_PREFIX) :].partition(".")
    found = [key for key in MECHANISM_KEYS if general.endswith(f".{key}")]
    return found[0] if found else general or None


def of_listener(listener: str, name: str, mechanism: str = "") -> str:
    """The setting of that name for one listener, or for one mechanism of it."""
    between = f"{mechanism}." if mechanism else ""
    return f"{LISTENER_PREFIX}{listener}.{between}{name}".lower()


def to_ms(name: str, value: int) -> int:
    """Hours and minutes as milliseconds; where no limit is allowed, all below zero means that."""
    if name == "log.retention.ms":
        return max(value, -1)
    for suffix, factor in _MS_PER_UNIT.items():
        if name.endswith(suffix):
            return value * factor if value >= 0 else -1
    return value
