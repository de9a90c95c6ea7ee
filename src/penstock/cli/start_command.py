"""`penstock start` as the other commands see it: for help and completion only.

`penstock.cli.main` takes the light path (`cli/start`) before anything here is imported.
"""

from __future__ import annotations

from typing import Any

from penstock.cli.completion import Offer
from penstock.cli.failure import UsageFailure
from penstock.cli.help import PlainCommand
from penstock.cli.option import complete_start, start_help


class StartCommand(PlainCommand):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(start_help(formatter.width))

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        return [Offer(flag, help=text) for flag, text in complete_start(incomplete)]


def start() -> None:
    """Run a broker in the foreground."""
    raise UsageFailure("`start` comes first: penstock start [OPTIONS]")
