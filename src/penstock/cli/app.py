"""The `penstock` command itself, and how errors leave: one line, the right exit code."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import typer

from penstock.cli import completion_command
from penstock.cli.argument import PROFILE_IN_USE, quiet_app
from penstock.cli.command_table import CommandTable
from penstock.cli.completion import complete_profiles
from penstock.cli.extra import missing_extra
from penstock.cli.failure import Failure, UsageFailure, complain
from penstock.cli.help import PlainGroup
from penstock.cli.profile import DEFAULT_BOOTSTRAP_SERVERS

_KIND_OF_NUMBER = re.compile(r"(?<=is not a valid )(int|float)( range)?$")
"""The parser's own names of types."""


class Root(PlainGroup):
    hints: ClassVar[Mapping[str, str]] = {
        "stop": "a broker stops on Ctrl-C or SIGTERM; `penstock start --pid-file FILE` writes "
        "its process id for `kill`",
        "restart": "stop the broker with Ctrl-C or SIGTERM, then `penstock start`",
        "status": "`penstock cluster info` shows whether a broker answers",
    }

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: CommandTable = CommandTable(self.commands)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def help_text(self, name: str) -> str:
        return self.commands.help_text(name)


app = quiet_app("A streaming platform that speaks Apache Kafka's protocol.", Root)


@app.callback()
def root(
    bootstrap_server: Annotated[
        str | None,
        typer.Option(
            "--bootstrap-server",
            "-b",
            metavar="HOST:PORT",
            show_default=DEFAULT_BOOTSTRAP_SERVERS,
            help="Brokers to ask.",
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            show_default="the one in use",
            help="A named cluster.",
            autocompletion=complete_profiles,
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", show_default="10", help="How long to wait."),
    ] = None,
    client_setting: Annotated[
        list[str] | None,
        typer.Option("-X", metavar="KEY=VALUE", help="A librdkafka setting."),
    ] = None,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        from penstock.cli.version import version as installed

        typer.echo(f"penstock {installed()}")
        raise typer.Exit


def run(arguments: list[str]) -> int:
    command = typer.main.get_command(app)
    if completion_command.VARIABLE in os.environ:
        return completion_command.answer(command)
    meta: dict[str, Any] = {}
    try:
        # Not `command.main`: it has its own mind about a reader that went away.
        with command.make_context("penstock", arguments) as context:
            meta = context.meta
            outcome = command.invoke(context)
        return outcome if isinstance(outcome, int) else 0
    except typer.Exit as done:
        return done.exit_code
    except typer.Abort:
        return 130
    except (OSError, KeyboardInterrupt):
        raise
    except UsageFailure:
        raise
    except Exception as error:
        return _fail(error, meta.get(PROFILE_IN_USE))


def _fail(error: Exception, profile: str | None) -> int:
    """Usage errors come from the parser, Kafka's from the library; a bug keeps its traceback."""
    format_message = getattr(error, "format_message", None)
    if type(error).__name__ == "NoArgsIsHelpError" and format_message is not None:
        typer.echo(format_message(), err=True)
        return 2
    if format_message is not None:
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "penstock"
        said = _KIND_OF_NUMBER.sub(_plain_kind, format_message().rstrip("."))
        complain(f"{said}{' ' if said.endswith('?') else '; '}see `{path} --help`")
        return int(getattr(error, "exit_code", 2))
    complain(_reason(error) + (f" (profile {profile})" if profile else ""))
    return 1


def _plain_kind(found: re.Match[str]) -> str:
    return "integer" if found[1] == "int" else "number"


def _reason(error: Exception) -> str:
    if isinstance(error, Failure):
        return str(error)
    if (advice := missing_extra(error)) is not None:
        return advice
    if isinstance(error, UnicodeEncodeError):
        return f"{error.object!r} is not UTF-8"
    if type(error).__name__ == "KafkaException":
        return str(error.args[0] if error.args else error)
    raise error
