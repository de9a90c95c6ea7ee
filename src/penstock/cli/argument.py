"""The options that all commands share, and the cluster they name.

`-b`, `--profile`, `--timeout` and `-X` are declared once, for `penstock` itself (`app.root`); a
command that talks to a cluster takes the same ones after its name. The nearest wins.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.cluster import Cluster
from penstock.cli.help import PlainCommand, PlainGroup, check_value, write_options
from penstock.cli.profile import choose_target, read_profiles

if TYPE_CHECKING:
    from penstock.cli.operator.link import Link

INT_MAX, SHORT_MAX = (1 << 31) - 1, (1 << 15) - 1
PARTITIONS_MAX = 100_000
"""As much as the protocol's fields hold."""
_GIVEN = "penstock.given"
PROFILE_IN_USE = "penstock.profile"
_NOT_SHARED = ("version",)


class ClusterCommand(PlainCommand):
    """A command that talks to a cluster."""

    _shared: list[Any] | None = None

    def get_params(self, ctx: Any) -> list[Any]:
        own = super().get_params(ctx)
        if self._shared is None:
            # Made once: the parser tells options apart by identity.
            taken = {name for each in self.params for name in each.opts}
            self._shared = [
                _share(each)
                for each in ctx.find_root().command.params
                if each.name not in _NOT_SHARED and taken.isdisjoint(each.opts)
            ]
        return [*own[:-1], *self._shared, own[-1]]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        super().format_options(ctx, formatter)
        self.get_params(ctx)
        write_options(formatter, "Cluster", self._shared or ())


def _share(option: Any) -> Any:
    shared = copy.copy(option)
    shared.expose_value, shared.callback = False, _remember
    return shared


def _remember(ctx: Any, option: Any, value: Any) -> Any:
    if value is not None and value != []:
        check_value(option, value)
        ctx.meta.setdefault(_GIVEN, {})[option.name] = value
    return value


class PlainTyper(typer.Typer):
    """Commands are `ClusterCommand`s unless they name another class."""

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        return super().command(name, **({"cls": ClusterCommand} | settings))


def quiet_app(help_text: str, group: type[PlainGroup] = PlainGroup) -> PlainTyper:
    """Plain help: a person's terminal and a pipe see the same, and rich is not imported for it."""
    return PlainTyper(
        cls=group,
        help=help_text,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
# Of commands that work in the foreground until they are stopped.
ProgressJson = Annotated[
    bool, typer.Option("--json", help="Print the progress as JSON, a line a second.")
]
MetricsPort = Annotated[
    int | None,
    typer.Option(
        metavar="PORT", min=0, max=65535, help="Serve metrics for Prometheus on this port."
    ),
]
MetricsHost = Annotated[
    str, typer.Option(metavar="HOST", help="Address that metrics are served on.")
]


def names_cluster(ctx: typer.Context) -> bool:
    """Whether the cluster was named on the command line."""
    given = {**ctx.find_root().params, **ctx.meta.get(_GIVEN, {})}
    return any(given.get(each) is not None for each in ("bootstrap_server", "profile"))


def cluster_of(ctx: typer.Context) -> Cluster:
    """The nearest option wins: after the command, then before it; then the environment, the
    profile in use, the default."""
    before = {key: each for key, each in ctx.find_root().params.items() if each is not None}
    after = ctx.meta.get(_GIVEN, {})
    given = before | after
    servers, profile = given.get("bootstrap_server"), given.get("profile")
    target = choose_target(servers, profile, os.environ, read_profiles)
    ctx.meta[PROFILE_IN_USE] = target.profile
    return Cluster(
        target,
        timeout_s=given.get("timeout", 10.0),
        client_settings=[*before.get("client_setting", ()), *after.get("client_setting", ())],
    )


def link_of(ctx: typer.Context) -> Link:
    """To the same cluster, for what is asked over our own connections."""
    from penstock.cli.operator.link import Link

    return Link(cluster_of(ctx))
