"""How much each logger of this process says, read and changed while it runs.

By Kafka's names of levels: its tools show and set them (KIP-412). Changed levels are forgotten when
the process ends.
"""

from __future__ import annotations

import logging
from typing import Final

from penstock.telemetry.log import ROOT

ROOT_LOGGER: Final = "root"
LEVELS: Final = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
_NUMBERS: Final = {
    "TRACE": 5,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}


def logger_levels() -> dict[str, str]:
    """In effect, by name."""
    names = sorted(name for name in logging.root.manager.loggerDict if name.startswith(f"{ROOT}."))
    found = {name: _level_of(name) for name in names}
    return {**found, ROOT_LOGGER: _level_of(ROOT)}


def has_logger(name: str) -> bool:
    return name == ROOT_LOGGER or (
        name.startswith(f"{ROOT}.") and name in logging.root.manager.loggerDict
    )


def set_level(name: str, level: str | None) -> None:
    """None: as the root logger."""
    logger = logging.getLogger(ROOT if name == ROOT_LOGGER else name)
    logger.setLevel(logging.NOTSET if level is None else _NUMBERS[level])


def _level_of(name: str) -> str:
    number = logging.getLogger(name).getEffectiveLevel()
    fitting = [level for level in LEVELS if _NUMBERS[level] <= number]
    return fitting[-1] if fitting else LEVELS[0]
