"""The settings of a broker, gathered from the tables, and the check of dynamic changes to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from penstock.model.error import ApiError, ErrorCode
from penstock.settings.key import (
    PER_BROKER,
    READ_ONLY,
    STRING,
    UNKNOWN,
    Key,
    Row,
    ValueProblem,
)
from penstock.settings.synonym import without_listener
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

OPEN_PREFIXES: Final = ("listener.name.", "rsm.config.", "rlmm.config.", "config.providers.")
"""Below these any name is taken: plug-ins and authentication mechanisms bring their own."""


def find_broker_key(name: str) -> Key | None:
    key = BROKER_KEYS.get(name) or DYNAMIC_ONLY_KEYS.get(name) or HIDDEN_KEYS.get(name)
    if key is not None or not name.startswith(OPEN_PREFIXES):
        return key
    general = BROKER_KEYS.get(without_listener(name) or "")
    if general is not None:
        return Key(name, general.type, None, general.check, update_mode=general.update_mode)
    # What it holds is unknown, a password perhaps: never shown.
    return Key(name, UNKNOWN if name.startswith("listener.name.") else STRING)


def validate_broker_overrides(overrides: Mapping[str, str | None], *, per_broker: bool) -> None:
    """What AlterConfigs may change on one broker, or as the default of all of them."""
    keys = {name: find_broker_key(name) for name in overrides}
    fixed = sorted(name for name, key in keys.items() if key and _is_fixed(name, key))
    if fixed:
        raise _refused(f"Cannot update these configs dynamically: [{', '.join(fixed)}]")
    own = sorted(name for name, key in keys.items() if key and key.update_mode == PER_BROKER)
    if own and not per_broker:
        raise _refused(f"These configs need a broker id to be set for: [{', '.join(own)}]")
    for name, text in overrides.items():
        key = keys[name]
        if key is not None and text is not None:
            try:
                key.parse(text)
            except ValueProblem as problem:
                raise _refused(str(problem)) from None


def _is_fixed(name: str, key: Key) -> bool:
    return key.update_mode == READ_ONLY and not name.startswith(OPEN_PREFIXES)


def _refused(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
