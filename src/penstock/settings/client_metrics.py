"""The settings of a subscription to clients' metrics (KIP-714), and their check.

Kept and told; no client is asked for metrics here yet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from penstock.model.error import ApiError, ErrorCode
from penstock.settings.key import INT, LIST, MEDIUM, READ_ONLY, UNREAD, Key, ValueProblem

_INTERVAL, _MATCH = "interval.ms", "match"
_INTERVAL_MS_MIN, _INTERVAL_MS_MAX = 100, 3_600_000

CLIENT_METRICS_KEYS: Final[dict[str, Key]] = {
    row[0]: Key(*row)
    for row in (
        ("metrics", LIST, "", None, MEDIUM, READ_ONLY, UNREAD),
        (_INTERVAL, INT, "300000", None, MEDIUM, READ_ONLY, UNREAD),
        (_MATCH, LIST, "", None, MEDIUM, READ_ONLY, UNREAD),
    )
}

_MATCHED: Final = frozenset(
    (
        "client_instance_id",
        "client_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    )
)


def validate_client_metrics(overrides: Mapping[str, str]) -> None:
    for name in overrides:
        if name not in CLIENT_METRICS_KEYS:
            raise ApiError(
                ErrorCode.INVALID_REQUEST, f"Unknown client metrics configuration: {name}"
            )
    for name, text in overrides.items():
        try:
            value = CLIENT_METRICS_KEYS[name].parse(text)
        except ValueProblem as problem:
            raise ApiError(ErrorCode.INVALID_CONFIG, str(problem)) from None
        if isinstance(value, int):
            _check_interval(value)
        elif isinstance(value, list) and name == _MATCH:
            for pattern in value:
                _check_pattern(pattern)


def _check_interval(interval_ms: int) -> None:
    if not _INTERVAL_MS_MIN <= interval_ms <= _INTERVAL_MS_MAX:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"Invalid value {interval_ms} for {_INTERVAL}, "
            f"interval must be between {_INTERVAL_MS_MIN} and {_INTERVAL_MS_MAX} (1 hour)",
        )


def _check_pattern(pattern: str) -> None:
    name, _, expression = pattern.partition("=")
    try:
        is_good = name.strip() in _MATCHED and bool(expression) and "=" not in expression
        re.compile(expression.strip())
    except re.error:
        is_good = False
    if not is_good:
        raise ApiError(ErrorCode.INVALID_CONFIG, f"Illegal client matching pattern: {pattern}")
