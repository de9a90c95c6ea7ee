"""`penstock start`'s options, declared once for its light parser and its help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from penstock.cli.failure import UsageFailure


class StartOption(NamedTuple):
    flag: str
    metavar: str
    help: str
    choices: tuple[str, ...] = ()


START_OPTIONS = (
    StartOption("--listen", "HOST:PORT", "Address to listen on [default: 127.0.0.1:9092]"),
    StartOption("--advertise", "HOST:PORT", "Address given to clients [default: that of --listen]"),
    StartOption("--data-dir", "DIR", "Folder of the data [default: ./penstock-data]"),
    StartOption("--config", "FILE", "Settings in the form of Kafka's server.properties"),
    StartOption("--set", "KEY=VALUE", "A setting; it wins over --config. May be repeated"),
    StartOption("--metrics", "HOST:PORT", "Serve metrics for Prometheus on this address"),
    StartOption("--ready-fd", "N", "Write one JSON line to this file descriptor when ready"),
    StartOption("--ready-file", "FILE", "Write the same line to a file when ready"),
    StartOption("--pid-file", "FILE", "Write the process id to a file"),
    StartOption(
        "--log-format", "text|json", "Format of log lines [default: text]", ("text", "json")
    ),
    StartOption(
        "--log-level",
        "LEVEL",
        "Lowest level logged: debug, info, warning, error [default: info]",
        ("debug", "info", "warning", "error"),
    ),
)

_BY_FLAG = {option.flag: option for option in START_OPTIONS}


class StartArguments:
    # No dataclass: importing `dataclasses` takes longer than everything else here together.
    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.settings: list[str] = []

    def take(self, option: StartOption, value: str) -> None:
        if option.choices and value not in option.choices:
            allowed = ", ".join(option.choices)
            raise UsageFailure(f"{option.flag} is one of {allowed}, not {value!r}")
        if option.flag == "--set":
            self.settings.append(value)
        else:
            self.values[option.flag] = value

    def integer(self, flag: str) -> int | None:
        value = self.values.get(flag)
        if value is None:
            return None
        if not value.isdecimal():
            raise UsageFailure(f"{flag} takes a number, not {value!r}")
        return int(value)


def parse_start(arguments: Sequence[str]) -> StartArguments:
    parsed = StartArguments()
    remaining = list(reversed(arguments))
    while remaining:
        flag, equals, value = remaining.pop().partition("=")
        option = _BY_FLAG.get(flag)
        if option is None:
            raise UsageFailure(f"`penstock start` has no option {flag}{_nearest(flag)}")
        if not equals:
            if not remaining:
                raise UsageFailure(f"{flag} needs a value: {flag} {option.metavar}")
            value = remaining.pop()
        parsed.take(option, value)
    return parsed


def start_help(width: int | None = None) -> str:
    from shutil import get_terminal_size
    from textwrap import wrap

    rows = [(f"{each.flag} {each.metavar}", each.help) for each in START_OPTIONS]
    rows.append(("-h, --help", "Show this message and exit."))
    left_width = max(len(left) for left, _ in rows) + 4
    right_width = (width or min(get_terminal_size().columns, 100) - 2) - left_width
    lines = []
    for left, right in rows:
        first, *rest = wrap(right, max(right_width, 20))
        lines.append(f"  {left}".ljust(left_width) + first)
        lines += [" " * left_width + each for each in rest]
    return (
        "Usage: penstock start [OPTIONS]\n\n"
        "  Run a broker in the foreground. Ctrl-C or SIGTERM stops it cleanly.\n\n"
        "Options:\n" + "\n".join(lines) + "\n"
    )


def complete_start(incomplete: str) -> list[tuple[str, str]]:
    """Flags for a shell to offer, each with its help."""
    return [(each.flag, each.help) for each in START_OPTIONS if each.flag.startswith(incomplete)]


def _nearest(flag: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(flag, _BY_FLAG, n=1)
    return f"; did you mean {near[0]}?" if near else "; see `penstock start --help`"
