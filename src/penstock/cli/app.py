"""The tree of commands, and how their errors leave: one line, the right exit code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import typer

from penstock.cli import (
    app_command,
    audit_command,
    capacity_command,
    catalog_command,
    cluster_command,
    completion_command,
    config_command,
    consume_command,
    dlq_command,
    fraud_command,
    group_command,
    health_command,
    lag_command,
    log_dir_command,
    metrics_command,
    outbox_command,
    pipeline_command,
    produce_command,
    profile_command,
    quota_command,
    saga_command,
    sla_command,
    sql_command,
    storage_command,
    tenant_command,
    topic_command,
    user_command,
)
from penstock.cli.acl import command as acl_command
from penstock.cli.acl import role_command
from penstock.cli.argument import PROFILE_IN_USE, quiet_app
from penstock.cli.balance import command as balance_command
from penstock.cli.completion import Offer, complete_profiles
from penstock.cli.doctor import command as doctor_command
from penstock.cli.drill import command as drill_command
from penstock.cli.extra import missing_extra
from penstock.cli.failure import Failure, UsageFailure, complain
from penstock.cli.help import PlainCommand, PlainGroup
from penstock.cli.hot import command as hot_command
from penstock.cli.operator import (
    broker_command,
    leader_command,
    partition_command,
    quorum_command,
)
from penstock.cli.option import complete_start, start_help
from penstock.cli.profile import DEFAULT_BOOTSTRAP_SERVERS
from penstock.cli.security import command as security_command

_ORDER = (
    "start",
    "topics",
    "produce",
    "consume",
    "groups",
    "lag",
    "sla",
    "doctor",
    "hot",
    "drill",
    "configs",
    "users",
    "cluster",
    "brokers",
    "partitions",
    "leaders",
    "balance",
    "quorum",
    "log-dirs",
    "acls",
    "roles",
    "quotas",
    "tenants",
    "audit",
    "health",
    "metrics",
    "capacity",
    "catalog",
    "sql",
    "storage",
    "security",
    "app",
    "outbox",
    "saga",
    "pipeline",
    "dlq",
    "fraud",
    "profile",
    "completion",
)
"""As help lists the commands: what a new user needs first comes first."""


class Root(PlainGroup):
    hints: ClassVar[Mapping[str, str]] = {
        "stop": "a broker stops on Ctrl-C or SIGTERM; `penstock start --pid-file FILE` writes "
        "its process id for `kill`",
        "restart": "stop the broker with Ctrl-C or SIGTERM, then `penstock start`",
        "status": "`penstock cluster info` shows whether a broker answers",
    }

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(self.commands, key=_ORDER.index)


class StartCommand(PlainCommand):
    """For help and completion only: `penstock.cli.main` takes the light path before this."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(start_help(formatter.width))

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        return [Offer(flag, help=text) for flag, text in complete_start(incomplete)]


app = quiet_app("A streaming platform that speaks Apache Kafka's protocol.", Root)


@app.command("start", cls=StartCommand)
def start() -> None:
    """Run a broker in the foreground."""
    raise UsageFailure("`start` comes first: penstock start [OPTIONS]")


app.add_typer(topic_command.app, name="topics")
app.command("produce", cls=produce_command.ProduceCommand)(produce_command.produce)
app.command("consume", cls=consume_command.ConsumeCommand)(consume_command.consume)
app.add_typer(group_command.app, name="groups")
app.command("lag")(lag_command.lag)
app.add_typer(sla_command.app, name="sla")
app.command("doctor")(doctor_command.doctor)
app.command("hot")(hot_command.hot)
app.add_typer(drill_command.app, name="drill")
app.add_typer(config_command.app, name="configs")
app.add_typer(user_command.app, name="users")
app.add_typer(cluster_command.app, name="cluster")
app.add_typer(broker_command.app, name="brokers")
app.add_typer(partition_command.app, name="partitions")
app.add_typer(leader_command.app, name="leaders")
app.add_typer(balance_command.app, name="balance")
app.command("quorum")(quorum_command.quorum)
app.command("log-dirs")(log_dir_command.log_dirs)
app.add_typer(acl_command.app, name="acls")
app.add_typer(role_command.app, name="roles")
app.add_typer(quota_command.app, name="quotas")
app.add_typer(tenant_command.app, name="tenants")
app.command("audit")(audit_command.audit)
app.command("health")(health_command.health)
app.add_typer(metrics_command.app, name="metrics")
app.command("capacity")(capacity_command.capacity)
app.add_typer(catalog_command.app, name="catalog")
app.command("sql")(sql_command.sql)
app.add_typer(storage_command.app, name="storage")
app.add_typer(security_command.app, name="security")
app.add_typer(app_command.app, name="app")
app.add_typer(outbox_command.app, name="outbox")
app.add_typer(saga_command.app, name="saga")
app.add_typer(pipeline_command.app, name="pipeline")
app.add_typer(dlq_command.app, name="dlq")
app.add_typer(fraud_command.app, name="fraud")
app.add_typer(profile_command.app, name="profile")
app.command("completion", cls=PlainCommand)(completion_command.completion)


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
        said = format_message().rstrip(".").replace("Value error, ", "")
        complain(f"{said}{' ' if said.endswith('?') else '; '}see `{path} --help`")
        return int(getattr(error, "exit_code", 2))
    complain(_reason(error) + (f" (profile {profile})" if profile else ""))
    return 1


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
