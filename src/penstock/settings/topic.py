"""The settings a topic may carry, and the check of those that somebody wants to set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from penstock.model.error import ApiError, ErrorCode
from penstock.settings.key import Key, ValueProblem, shortened
from penstock.settings.table.hidden import TOPIC_ROWS
from penstock.settings.table.topic import ROWS

TOPIC_KEYS: Final[dict[str, Key]] = {row[0]: Key(*row) for row in ROWS}

HIDDEN_TOPIC_KEYS: Final[dict[str, Key]] = {row[0]: Key(*row) for row in TOPIC_ROWS}


def parse_topic_override(name: str, text: str | None) -> Any:
    key = TOPIC_KEYS.get(name) or HIDDEN_TOPIC_KEYS.get(name)
    if key is None:
        raise _invalid(f"Unknown topic config name: {shortened(name)}")
    if text is None:
        raise _invalid(f"Null value not supported for topic configs: {name}")
    try:
        return key.parse(text)
    except ValueProblem as problem:
        raise _invalid(str(problem)) from None


def validate_topic_overrides(overrides: Mapping[str, str | None]) -> None:
    """Each value by itself, then those that have to fit together."""
    values = {name: parse_topic_override(name, text) for name, text in overrides.items()}
    lag_min = values.get("min.compaction.lag.ms", 0)
    lag_max = values.get("max.compaction.lag.ms")
    if lag_max is not None and lag_min > lag_max:
        raise _invalid(
            f"min.compaction.lag.ms ({lag_min}) is higher than max.compaction.lag.ms ({lag_max})"
        )
    if values.get("remote.storage.enable"):
        raise _invalid("remote.storage.enable cannot be true: this broker has no tiered storage")


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_CONFIG, message)
