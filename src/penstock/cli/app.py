"""The tree of commands, and how their errors leave: one line, the right exit code."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli import (
    config_command,
    consume_command,
    dlq_command,
    fraud_command,
    log_dir_command,
    pipeline_command,
    produce_command,
    topic_command,
)
from penstock.cli.argument import quiet_app
from penstock.cli.failure import Failure, UsageFailure, complain

app = quiet_app("A streaming platform that speaks Apache Kafka's protocol.")


@app.command("start")
def start() -> None:
    """Run a broker in the foreground."""
    # Only for the list of commands: `penstock.cli.main` takes the light path before this.
    raise UsageFailure("`start` comes first: penstock start [OPTIONS]")


app.add_typer(topic_command.app, name="topics")
app.add_typer(config_command.app, name="configs")
app.add_typer(dlq_command.app, name="dlq")
app.add_typer(fraud_command.app, name="fraud")
app.add_typer(pipeline_command.app, name="pipeline")
app.command("produce")(produce_command.produce)
app.command("consume")(consume_command.consume)
app.command("log-dirs")(log_dir_command.log_dirs)


@app.callback()
def root(
    bootstrap_server: Annotated[
        str | None,
        typer.Option(
            "--bootstrap-server",
            "-b",
            metavar="HOST:PORT",
            help="The cluster to talk to; also taken after the command, and from "
            "PENSTOCK_BOOTSTRAP_SERVERS [default: 127.0.0.1:9092]",
        ),
    ] = None,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="How long to wait.")] = 10.0,
    client_setting: Annotated[
        list[str] | None,
        typer.Option("-X", metavar="KEY=VALUE", help="A librdkafka setting, such as for TLS."),
    ] = None,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        from penstock.cli.version import version as installed

        typer.echo(f"penstock {installed()}")
        raise typer.Exit


def run(arguments: list[str]) -> int:
    command = typer.main.get_command(app)
    try:
        # Not `command.main`: it has its own mind about a reader that went away.
        with command.make_context("penstock", arguments) as context:
            outcome = command.invoke(context)
        return outcome if isinstance(outcome, int) else 0
    except (Failure, KeyboardInterrupt, BrokenPipeError):
        raise
    except typer.Exit as done:
        return done.exit_code
    except typer.Abort:
        return 130
    except Exception as error:
        return _fail(error)


def _fail(error: Exception) -> int:
    """Usage errors come from the parser, Kafka's from the library; a bug keeps its traceback."""
    format_message = getattr(error, "format_message", None)
    if type(error).__name__ == "NoArgsIsHelpError" and format_message is not None:
        typer.echo(format_message(), err=True)
        return 2
    if format_message is not None:
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "penstock"
        said = format_message().rstrip(".")
        complain(f"{said}{' ' if said.endswith('?') else '; '}see `{path} --help`")
        return int(getattr(error, "exit_code", 2))
    if type(error).__name__ == "KafkaException":
        complain(str(error.args[0] if error.args else error))
        return 1
    raise error
