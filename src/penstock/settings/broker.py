"""The settings of a broker, gathered from the tables, and the check of dynamic changes to them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from penstock.model.error import ApiError, ErrorCode
from penstock.settings.key import (
    AT_START,
    CLUSTER_WIDE,
    LOW,
    PER_BROKER,
    PROMISE,
    READ,
    READ_ONLY,
    SHOWN_MAX,
    STRING,
    UNKNOWN,
    UNREAD,
    Key,
    Row,
    ValueProblem,
    shortened,
)
from penstock.settings.synonym import (
    LISTENER_PREFIX,
    PROVIDER_PREFIX,
    TENANT_PREFIX,
    without_listener,
)
from penstock.settings.table import (
    cluster,
    group,
    hidden,
    log,
    network,
    operation,
    own,
    remote,
    security,
)

_TABLES: Final[tuple[tuple[Row, ...], ...]] = (
    cluster.ROWS,
    group.ROWS,
    log.ROWS,
    network.ROWS,
    operation.ROWS,
    own.ROWS,
    remote.ROWS,
    security.ROWS,
)

BROKER_KEYS: Final[dict[str, Key]] = {row[0]: Key(*row) for rows in _TABLES for row in rows}

DYNAMIC_ONLY_KEYS: Final[dict[str, Key]] = {row[0]: Key(*row) for row in operation.DYNAMIC_ROWS}
"""Set by tools while replicas move; neither read from a file nor described unless set."""

HIDDEN_KEYS: Final[dict[str, Key]] = {row[0]: Key(*row) for row in hidden.ROWS}

MADE_BY_CONTROLLER: Final = frozenset({"penstock.scram.decoy.secret"})
"""Set for all brokers by the controller itself. Tools before Kafka 4 want every sensitive setting
that they are shown named again in a change, which nobody can do with these."""

AUTHORIZER_KEYS: Final[dict[str, Key]] = {row[0]: Key(*row) for row in security.AUTHORIZER_ROWS}

ONLY_PER_LISTENER: Final = ("ssl.keystore.", "ssl.key.", "ssl.truststore.")
"""What changes while the node runs changes for one listener, so that a mistake is one's alone."""

OPEN_PREFIXES: Final = ("rsm.config.", "rlmm.config.")
"""Below these any name is taken: plug-ins of tiered storage bring their own."""


PER_LISTENER: Final = ("ssl.", "sasl.", "connections.max.reauth.ms")
"""What is read by listener, if it is read at all, begins with one of these."""

LIMITS_PER_LISTENER: Final = ("max.connection.creation.rate", "max.connections")
"""The others of these limits are the node's alone."""

JAAS_CONFIG: Final = "sasl.jaas.config"
JAAS_MECHANISMS: Final = ("scram-sha-256", "scram-sha-512", "plain", "oauthbearer")


def find_broker_key(name: str) -> Key | None:
    key = BROKER_KEYS.get(name) or DYNAMIC_ONLY_KEYS.get(name) or HIDDEN_KEYS.get(name)
    if key is not None:
        return key
    if name.startswith(LISTENER_PREFIX):
        return _key_of_listener(name)
    if name in AUTHORIZER_KEYS:
        return AUTHORIZER_KEYS[name]
    if name.startswith(TENANT_PREFIX) and len(name) > len(TENANT_PREFIX):
        from penstock.settings.tenant import complaint  # few have any

        check = partial(complaint, name[len(TENANT_PREFIX) :])
        return Key(name, STRING, None, check, LOW, CLUSTER_WIDE, READ)
    if name.startswith(PROVIDER_PREFIX):
        return Key(name, UNKNOWN, effect=AT_START)
    return Key(name, STRING, update_mode=CLUSTER_WIDE) if name.startswith(OPEN_PREFIXES) else None


def _key_of_listener(name: str) -> Key:
    general = BROKER_KEYS.get(without_listener(name) or "")
    if general is None:
        # What it holds is unknown, a password perhaps: never shown.
        return Key(name, UNKNOWN, effect=PROMISE)
    if _is_read_by_listener(name, general):
        effect = READ
    else:
        effect = UNREAD if general.effect == UNREAD else PROMISE
    # What has no effect for all listeners may have one for a mechanism of one.
    update_mode = PER_BROKER if general.name == JAAS_CONFIG else general.update_mode
    return Key(name, general.type, None, general.check, LOW, update_mode, effect)


def _is_read_by_listener(name: str, general: Key) -> bool:
    """Kafka reads a JAAS configuration of a mechanism alone."""
    if general.name == JAAS_CONFIG:
        return name.lower().endswith(tuple(f".{one}.{JAAS_CONFIG}" for one in JAAS_MECHANISMS))
    if general.name in LIMITS_PER_LISTENER:
        return True
    return general.effect == READ and general.name.startswith(PER_LISTENER)


def nearest_key(name: str) -> str | None:
    if len(name) > SHOWN_MAX:
        # Comparing takes time by the length, and nobody mistypes a name that long.
        return None
    from difflib import get_close_matches  # only a typing error needs it

    matches = get_close_matches(name, BROKER_KEYS, n=1, cutoff=0.6)
    return matches[0] if matches else None


def unknown_name(name: str) -> str:
    near = nearest_key(name)
    return f"{name}; did you mean {near}?" if near else shortened(name)


def validate_broker_overrides(overrides: Mapping[str, str]) -> None:
    """What AlterConfigs may put on one broker, or on all of them, value by value. Names that nobody
    declared are kept, as Kafka keeps them for its plug-ins."""
    keys = {name: find_broker_key(name) for name in overrides}
    fixed = sorted(name for name, key in keys.items() if key and key.update_mode == READ_ONLY)
    if fixed:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"Cannot update these configs dynamically: [{', '.join(fixed)}]",
        )
    general = sorted(name for name in overrides if name.startswith(ONLY_PER_LISTENER))
    if general:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            "These security configs can be dynamically updated only per-listener using the "
            f"listener prefix: [{', '.join(general)}]",
        )
    for name, text in overrides.items():
        key = keys[name]
        try:
            if key is not None:
                key.parse(text)
        except ValueProblem as problem:
            raise ApiError(ErrorCode.INVALID_REQUEST, str(problem)) from None


def refuse_per_broker(overrides: Mapping[str, str]) -> None:
    """Of changes for all brokers at once."""
    keys = {name: find_broker_key(name) for name in overrides}
    own = sorted(name for name, key in keys.items() if key and key.update_mode == PER_BROKER)
    if own:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            "Cannot update these configs at default cluster level, broker id must be specified: "
            f"[{', '.join(own)}]",
        )


def is_usable(name: str, text: str) -> bool:
    """Whether a change found in the metadata log can be followed: another version, or Apache
    Kafka, may have accepted what this node would refuse."""
    try:
        validate_broker_overrides({name: text})
    except ApiError:
        return False
    return True
