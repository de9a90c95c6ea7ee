"""`penstock start`: settings from file and command line, handed to the node.

Imports nothing slow: the time until a broker answers is counted from here.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.option import StartArguments, parse_start, start_help
from penstock.model.error import InvariantError, PenstockError
from penstock.settings.config import BrokerConfig

INTERRUPTED = 130


def start(arguments: Sequence[str]) -> int:
    if {"--help", "-h"} & set(arguments):
        sys.stdout.write(start_help())
        return 0
    parsed = parse_start(arguments)
    _end_at_once_when_interrupted()
    try:
        return _start(parsed)
    except Failure as failure:
        if parsed.values.get("--log-format") != "json":
            raise
        _complain_in_json(str(failure))
        return failure.exit_code


def _start(parsed: StartArguments) -> int:
    malformed = [each for each in parsed.settings if "=" not in each]
    if malformed:
        raise UsageFailure(f"--set takes KEY=VALUE, not {malformed[0]!r}")
    ready_fd = _ready_fd(parsed)
    try:
        config = BrokerConfig.load(parsed.values.get("--config"), parsed.settings)
        return _run(parsed, config, ready_fd)
    except InvariantError:
        raise
    except (PenstockError, OSError) as error:
        raise Failure(_reason(error)) from error


def _end_at_once_when_interrupted() -> None:
    """Until the node listens to signals itself. Nothing is held yet; and a KeyboardInterrupt may
    come where Python swallows it, in the middle of an import, and the broker would start."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))


def _complain_in_json(message: str) -> None:
    from penstock.telemetry.log import json_line

    sys.stderr.write(json_line("cli", "error", " ".join(message.split())) + "\n")


def _ready_fd(parsed: StartArguments) -> int | None:
    """Checked before anything starts: found out when ready, it would stop a broker in service."""
    number = parsed.integer("--ready-fd")
    if number is not None:
        try:
            os.fstat(number)
        except OSError:
            raise UsageFailure(f"--ready-fd {number}: no such file descriptor is open") from None
    return number


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _run(parsed: StartArguments, config: BrokerConfig, ready_fd: int | None) -> int:
    from penstock.node.main import run

    values = parsed.values
    return run(
        config,
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
