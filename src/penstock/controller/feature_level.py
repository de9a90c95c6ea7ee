"""What levels of features go together, and which ways back are open. ValueError says why not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from penstock.controller.config import ELIGIBLE_LEADERS
from penstock.metadata.version import (
    CORDONED_DIRECTORIES_LEVEL,
    ELIGIBLE_LEADERS_LEVEL,
    METADATA_LEVEL,
    METADATA_LEVEL_MIN,
    METADATA_VERSION,
)

_RECORDS_CHANGED_AT: Final = (
    METADATA_LEVEL_MIN,
    ELIGIBLE_LEADERS_LEVEL,
    CORDONED_DIRECTORIES_LEVEL,
)
"""Levels that brought records older software cannot read: below them there is no way back."""


def check_metadata_level(there: int, level: int, *, unsafe: bool = False) -> None:
    if not METADATA_LEVEL_MIN <= level <= METADATA_LEVEL:
        raise ValueError(f"Levels {METADATA_LEVEL_MIN} to {METADATA_LEVEL} are known here.")
    if any(level < changed <= there for changed in _RECORDS_CHANGED_AT):
        reason = (
            "Unsafe metadata downgrade is not supported in this version."
            if unsafe
            else "Refusing to perform the requested downgrade because it might delete metadata "
            "information."
        )
        raise ValueError(
            f"Unsupported {METADATA_VERSION} downgrade from {there} to {level}. {reason}"
        )


def check_dependencies(levels: Mapping[str, int]) -> None:
    metadata_level = levels.get(METADATA_VERSION, 0)
    if levels.get(ELIGIBLE_LEADERS) and metadata_level < ELIGIBLE_LEADERS_LEVEL:
        raise ValueError(
            f"{ELIGIBLE_LEADERS} 1 needs {METADATA_VERSION} {ELIGIBLE_LEADERS_LEVEL} or higher."
        )
