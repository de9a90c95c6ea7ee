"""Which module has which command, in the order of the help page: what a new user needs comes first.

A module is imported when its command is named, so that no command waits for the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any, NamedTuple

import typer

from penstock.cli.argument import quiet_app


class Source(NamedTuple):
    """Where a command is: the function, or the typer app of its subcommands."""

    module: str
    attribute: str = "app"
    command_class: str | None = None


SOURCES = {
    "start": Source("penstock.cli.start_command", "start", "StartCommand"),
    "topics": Source("penstock.cli.topic_command"),
    "produce": Source("penstock.cli.produce_command", "produce", "ProduceCommand"),
    "consume": Source("penstock.cli.consume_command", "consume", "ConsumeCommand"),
    "groups": Source("penstock.cli.group_command"),
    "lag": Source("penstock.cli.lag_command", "lag"),
    "sla": Source("penstock.cli.sla_command"),
    "doctor": Source("penstock.cli.doctor.command", "doctor"),
    "hot": Source("penstock.cli.hot.command", "hot"),
    "drill": Source("penstock.cli.drill.command"),
    "configs": Source("penstock.cli.config_command"),
    "users": Source("penstock.cli.user_command"),
    "cluster": Source("penstock.cli.cluster_command"),
    "brokers": Source("penstock.cli.operator.broker_command"),
    "partitions": Source("penstock.cli.operator.partition_command"),
    "leaders": Source("penstock.cli.operator.leader_command"),
    "balance": Source("penstock.cli.balance.command"),
    "quorum": Source("penstock.cli.operator.quorum_command", "quorum"),
    "log-dirs": Source("penstock.cli.log_dir_command", "log_dirs"),
    "acls": Source("penstock.cli.acl.command"),
    "roles": Source("penstock.cli.acl.role_command"),
    "quotas": Source("penstock.cli.quota_command"),
    "tenants": Source("penstock.cli.tenant_command"),
    "audit": Source("penstock.cli.audit_command", "audit"),
    "health": Source("penstock.cli.health_command", "health"),
    "metrics": Source("penstock.cli.metrics_command"),
    "capacity": Source("penstock.cli.capacity_command", "capacity"),
    "catalog": Source("penstock.cli.catalog_command"),
    "sql": Source("penstock.cli.sql_command", "sql"),
    "storage": Source("penstock.cli.storage_command"),
    "security": Source("penstock.cli.security.command"),
    "app": Source("penstock.cli.app_command"),
    "outbox": Source("penstock.cli.outbox_command"),
    "saga": Source("penstock.cli.saga_command"),
    "pipeline": Source("penstock.cli.pipeline_command"),
    "dlq": Source("penstock.cli.dlq_command"),
    "fraud": Source("penstock.cli.fraud_command"),
    "profile": Source("penstock.cli.profile_command"),
    "completion": Source("penstock.cli.completion_command", "completion", "CompletionCommand"),
}


class CommandTable(MutableMapping[str, Any]):
    """What a group holds of its commands, each made when it is looked up."""

    def __init__(self, made: Mapping[str, Any]) -> None:
        self._made = dict(made)

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _command(name, SOURCES[name])
        return self._made[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*SOURCES, *self._made]))

    def __len__(self) -> int:
        return len(SOURCES.keys() | self._made)

    def help_text(self, name: str) -> str:
        """Without making the command: a list of commands shows nothing else of it."""
        if name in self._made:
            return str(self._made[name].help or "")
        found = getattr(_module(SOURCES[name]), SOURCES[name].attribute)
        text = found.info.help if isinstance(found, typer.Typer) else found.__doc__
        return str(text or "")


def _command(name: str, source: Source) -> Any:
    module = _module(source)
    found = getattr(module, source.attribute)
    holder = quiet_app("")
    if isinstance(found, typer.Typer):
        holder.add_typer(found, name=name)
    elif source.command_class is None:
        holder.command(name)(found)
    else:
        holder.command(name, cls=getattr(module, source.command_class))(found)
    return typer.main.get_group(holder).commands[name]


def _module(source: Source) -> Any:
    return import_module(source.module)
