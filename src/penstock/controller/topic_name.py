"""Which names a topic may have."""

from __future__ import annotations

from re import compile as compile_pattern
from typing import Final

from penstock.model.error import ApiError, ErrorCode

NAME_LENGTH_MAX: Final = 249
"""With "-<partition>" and a suffix for deletion it still fits a file name."""

METADATA_TOPIC: Final = "__cluster_metadata"
_LEGAL: Final = compile_pattern(r"[a-zA-Z0-9._-]+")


def check_topic_name(name: str) -> None:
    problem = _find_problem(name)
    if problem is not None:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")


def _find_problem(name: str) -> str | None:
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > NAME_LENGTH_MAX:
        return f"the length of '{name}' is longer than the max allowed length {NAME_LENGTH_MAX}"
    if _LEGAL.fullmatch(name) is None:
        return (
            f"'{name}' contains one or more characters other than ASCII alphanumerics, "
            "'.', '_' and '-'"
        )
    return None
