"""The settings a group may carry, and the check of those that somebody wants to set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from penstock.model.error import ApiError, ErrorCode
from penstock.settings.broker import find_broker_key
from penstock.settings.config import BrokerConfig
from penstock.settings.key import Key, ValueProblem, shortened
from penstock.settings.table.group_resource import ROWS

GROUP_KEYS: Final[dict[str, Key]] = {row[0]: Key(*row) for row in ROWS}

_KINDS: Final = ("consumer", "share", "streams")


def broker_name(name: str) -> str | None:
    """The broker setting that counts where a group has none of its own."""
    found = f"group.{name}"
    return found if find_broker_key(found) is not None else None


def validate_group_overrides(config: BrokerConfig, overrides: Mapping[str, str]) -> None:
    """Each value by itself, then within the broker's limits, then those that belong together."""
    values = {name: _parsed(name, text) for name, text in overrides.items()}
    for name, value in values.items():
        kind, _, rest = name.partition(".")
        _check_limit(config, name, value, f"group.{kind}.min.{rest}", "greater", lowest=True)
        _check_limit(config, name, value, f"group.{kind}.max.{rest}", "less", lowest=False)
    for kind in _KINDS:
        _check_session(config, values, kind)


def _parsed(name: str, text: str) -> object:
    key = GROUP_KEYS.get(name)
    if key is None:
        raise _invalid(f"Unknown group config name: {shortened(name)}")
    try:
        return key.parse(text)
    except ValueProblem as problem:
        raise _invalid(str(problem)) from None


def _check_limit(
    config: BrokerConfig, name: str, value: object, limit_name: str, word: str, lowest: bool
) -> None:
    if not isinstance(value, int) or find_broker_key(limit_name) is None:
        return
    limit = int(config.get(limit_name))
    if (value < limit) if lowest else (value > limit):
        raise _invalid(f"{name} must be {word} than or equal to {limit_name}")


def _check_session(config: BrokerConfig, values: Mapping[str, object], kind: str) -> None:
    session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
    if session not in values and heartbeat not in values:
        return
    session_ms = values.get(session, config.get(f"group.{session}"))
    heartbeat_ms = values.get(heartbeat, config.get(f"group.{heartbeat}"))
    if int(str(session_ms)) <= int(str(heartbeat_ms)):
        raise _invalid(f"{session} must be greater than {heartbeat}")


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_CONFIG, message)
