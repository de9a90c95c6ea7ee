"""`penstock start`: settings from file and command line, handed to the node.

Imports nothing slow: the time until a broker answers is counted from here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from penstock.cli.failure import UsageFailure
from penstock.cli.option import StartArguments, parse_start, start_help


def start(arguments: Sequence[str]) -> int:
    if {"--help", "-h"} & set(arguments):
        sys.stdout.write(start_help())
        return 0
    parsed = parse_start(arguments)
    overrides = dict(_setting(each) for each in parsed.settings)
    ready_fd = parsed.integer("--ready-fd")
    return _run(parsed, overrides, ready_fd)


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageFailure(f"--set takes KEY=VALUE, not {text!r}")
    return key.strip(), value.strip()


def _run(parsed: StartArguments, overrides: dict[str, str], ready_fd: int | None) -> int:
    from penstock.node.main import run

    values = parsed.values
    return run(
        _config(values.get("--config"), overrides),
        listen=values.get("--listen"),
        advertise=values.get("--advertise"),
        data_dir=values.get("--data-dir"),
        metrics=values.get("--metrics"),
        ready_fd=ready_fd,
        ready_file=values.get("--ready-file"),
        pid_file=values.get("--pid-file"),
        log_format=values.get("--log-format", "text"),
        log_level=values.get("--log-level", "info"),
    )


def _config(file: str | None, overrides: dict[str, str]) -> Any:
    raise NotImplementedError
