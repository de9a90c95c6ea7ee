"""Structured logging: an event and its fields, as text for people or JSON for machines.

A thin layer over the standard library, so that handlers, levels and capture work as everywhere.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any, TextIO

ROOT = "penstock"
OTHERS = ("asyncio", "py.warnings")
"""Loggers of Python itself, whose lines have the same form."""
MEMBERS = ("time", "level", "source", "event", "exception")
"""Of every JSON line; no field of an event has one of these names."""


class EventLogger:
    """`log.info("segment rolled", topic="t", offset=7)`."""

    __slots__ = ("_logger",)

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(f"{ROOT}.{name}")

    def debug(self, event: str, **fields: Any) -> None:
        self._emit(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: Any) -> None:
        self._emit(logging.INFO, event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        self._emit(logging.WARNING, event, fields)

    def error(self, event: str, **fields: Any) -> None:
        self._emit(logging.ERROR, event, fields)

    def exception(self, event: str, **fields: Any) -> None:
        self._emit(logging.ERROR, event, {**fields, "exc_info": True})

    def _emit(self, level: int, event: str, fields: dict[str, Any]) -> None:
        if self._logger.isEnabledFor(level):
            exc_info = fields.pop("exc_info", None)
            self._logger.log(level, event, exc_info=exc_info, extra={"fields": fields})


def get_logger(name: str) -> EventLogger:
    return EventLogger(name)


def configure(log_format: str = "text", level: str = "info", stream: TextIO | None = None) -> None:
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter() if log_format == "json" else TextFormatter())
    logging.getLogger(ROOT).setLevel(level.upper())
    for name in (ROOT, *OTHERS):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
    logging.captureWarnings(log_format == "json")


class TextFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", {})
        tail = "".join(f" {name}={_text(value)}" for name, value in fields.items())
        line = f"{_stamp(record)} {record.levelname:<7} {record.getMessage()}{tail}"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", {})
        if record.exc_info:
            fields = {**fields, "exception": self.formatException(record.exc_info)}
        level, event = record.levelname.lower(), record.getMessage()
        return _json(_stamp(record), level, record.name, event, fields)


def json_line(name: str, level: str, event: str, **fields: Any) -> str:
    """What is printed past the log, in the form that the log has."""
    return _json(_time(time.time()), level, f"{ROOT}.{name}", event, fields)


def _json(when: str, level: str, source: str, event: str, fields: dict[str, Any]) -> str:
    entry = {"time": when, "level": level, "source": source, "event": event, **fields}
    return json.dumps(entry, default=str)


def _stamp(record: logging.LogRecord) -> str:
    return _time(record.created)


def _time(seconds: float) -> str:
    clock = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{clock}.{int(seconds % 1 * 1000):03}Z"


def _text(value: Any) -> str:
    text = str(value)
    return f'"{text}"' if " " in text or not text else text
