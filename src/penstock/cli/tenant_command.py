"""`penstock tenants`: what is typed, and what is printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from penstock.cli.argument import Json, cluster_of, link_of, quiet_app
from penstock.cli.cluster import Cluster, key_values
from penstock.cli.failure import UsageFailure
from penstock.cli.option_set import spread
from penstock.cli.output import plural, print_json, print_line, print_table

if TYPE_CHECKING:
    from penstock.cli.operator.link import Link
    from penstock.cli.tenant import Use
    from penstock.settings.tenant import Tenant

app = quiet_app("Tenants: a prefix of names with an owner, users and limits.")

Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False)]
Users = Annotated[
    list[str] | None,
    typer.Option("--user", metavar="NAME", help="Who may do everything under the prefix."),
]


class LimitOptions(NamedTuple):
    """What holds for the topics of a tenant."""

    owner: Annotated[str | None, typer.Option("--owner", metavar="TEXT", help="Whom to ask.")] = (
        None
    )
    topics: Annotated[
        int | None, typer.Option("--topics", metavar="N", min=0, help="At most so many.")
    ] = None
    partitions: Annotated[
        int | None, typer.Option("--partitions", metavar="N", min=0, help="Of all its topics.")
    ] = None
    size: Annotated[
        str | None,
        typer.Option("--bytes", metavar="SIZE", help="That topics may keep by retention.bytes."),
    ] = None
    retention: Annotated[
        str | None, typer.Option("--retention", metavar="TIME", help="The longest, such as 7d.")
    ] = None
    message_bytes: Annotated[
        str | None, typer.Option("--message-bytes", metavar="SIZE", help="The largest message.")
    ] = None
    defaults: Annotated[
        list[str] | None,
        typer.Option("--default", metavar="KEY=VALUE", help="Of its topics that do not set it."),
    ] = None

    def values(self) -> dict[str, Any]:
        """Those that were named, as a tenant has them."""
        from penstock.cli.tenant import parse_duration, parse_size

        read: dict[str, tuple[str, Callable[[Any], Any]]] = {
            "owner": ("owner", str),
            "topics": ("topics", int),
            "partitions": ("partitions", int),
            "size": ("bytes", lambda text: parse_size(text, "--bytes")),
            "retention": ("retention_ms", lambda text: parse_duration(text, "--retention")),
            "message_bytes": ("message_bytes", lambda text: parse_size(text, "--message-bytes")),
            "defaults": ("defaults", lambda pairs: dict(key_values(pairs, "--default"))),
        }
        said = {key: value for key, value in self._asdict().items() if value is not None}
        return {read[key][0]: read[key][1](value) for key, value in said.items()}


class RateOptions(NamedTuple):
    """Quotas of each of its users."""

    produce: Annotated[
        str | None, typer.Option("--produce", metavar="RATE", help="Of each user, such as 20MB/s.")
    ] = None
    consume: Annotated[
        str | None, typer.Option("--consume", metavar="RATE", help="Of each user, such as 50MB/s.")
    ] = None

    def values(self) -> dict[str, float]:
        from penstock.cli.quota import parse_values

        said = {"producer_byte_rate": self.produce, "consumer_byte_rate": self.consume}
        return parse_values({key: text for key, text in said.items() if text is not None})


@app.command("create")
@spread
def create_command(
    ctx: typer.Context,
    name: Name,
    prefix: Annotated[
        str, typer.Option("--prefix", metavar="TEXT", help="What names of its topics begin with.")
    ],
    limits: LimitOptions,
    rates: RateOptions,
    users: Users = None,
) -> None:
    """Make a tenant. Its users may make topics, groups and transactions under its prefix.

    \b
    penstock tenants create payments --prefix payments. --user pay-service
    penstock tenants create hr --prefix hr. --partitions 200 --retention 7d
    """
    from penstock.cli.tenant import keep_tenant
    from penstock.cli.tenant_list import read_tenants
    from penstock.settings.tenant import Tenant

    link = link_of(ctx)
    if name in {each.name for each in read_tenants(link)}:
        raise UsageFailure(f"there is a tenant {name} already; `penstock tenants set` changes it")
    tenant = replace(Tenant(name, prefix, users=tuple(users or ())), **limits.values())
    quotas = _checked(rates, tenant)
    keep_tenant(link, tenant)
    print_line(f"tenant {name}: topics that begin with {prefix}")
    _admit(link, tenant, tenant.users)
    _limit(link, tenant, quotas)


@app.command("set")
@spread
def set_command(
    ctx: typer.Context,
    name: Name,
    limits: LimitOptions,
    rates: RateOptions,
    users: Users = None,
) -> None:
    """Change limits of a tenant, or add users; what is not named stays as it is."""
    from penstock.cli.tenant import keep_tenant
    from penstock.cli.tenant_list import find_tenant

    link = link_of(ctx)
    before = find_tenant(link, name)
    known = tuple(dict.fromkeys((*before.users, *(users or ()))))
    tenant = replace(before, **limits.values(), users=known)
    quotas = _checked(rates, tenant)
    keep_tenant(link, tenant)
    print_line(f"tenant {name} is changed")
    _admit(link, tenant, tuple(users or ()))
    _limit(link, tenant, quotas)


@app.command("list")
def list_command(ctx: typer.Context, as_json: Json = False) -> None:
    """Show all tenants, and what they have of their limits."""
    from penstock.cli.tenant import LIMITS, uses
    from penstock.cli.tenant_list import read_tenants

    cluster, link = _both(ctx)
    tenants = read_tenants(link)
    used = uses(cluster, link, tenants)
    if as_json:
        print_json([_document(each, used[each.name]) for each in tenants])
        return
    rows = [
        (
            each.name,
            each.prefix,
            each.owner or None,
            *(_of(getattr(used[each.name], limit), getattr(each, limit)) for limit in LIMITS),
        )
        for each in tenants
    ]
    print_table(("tenant", "prefix", "owner", *LIMITS), rows)


@app.command("show")
def show_command(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show one tenant: limits, use, users and defaults."""
    from penstock.cli.tenant import LIMITS, uses
    from penstock.cli.tenant_list import find_tenant

    cluster, link = _both(ctx)
    tenant = find_tenant(link, name)
    used = uses(cluster, link, [tenant])[name]
    if as_json:
        print_json(_document(tenant, used))
        return
    rows: list[tuple[str, str | int | None]] = [
        ("prefix", tenant.prefix),
        ("owner", tenant.owner or None),
        ("users", ", ".join(tenant.users) or None),
        *((limit, _of(getattr(used, limit), getattr(tenant, limit))) for limit in LIMITS),
        ("retention.ms", tenant.retention_ms),
        ("max.message.bytes", tenant.message_bytes),
        *((f"default {key}", value) for key, value in tenant.defaults.items()),
    ]
    print_table(("", name), rows)


@app.command("remove")
def remove_command(ctx: typer.Context, name: Name) -> None:
    """Forget a tenant, with the grants and rates of its users. Topics stay, without limits."""
    from penstock.cli.tenant import forget_tenant, revoke, set_rates
    from penstock.cli.tenant_list import find_tenant

    link = link_of(ctx)
    tenant = find_tenant(link, name)
    revoke(link, tenant, tenant.users)
    set_rates(link, tenant.users, {"producer_byte_rate": None, "consumer_byte_rate": None})
    forget_tenant(link, name)
    print_line(f"tenant {name} is forgotten; its topics are as they were")


def _both(ctx: typer.Context) -> tuple[Cluster, Link]:
    from penstock.cli.operator.link import Link

    cluster = cluster_of(ctx)
    return cluster, Link(cluster)


def _checked(rates: RateOptions, tenant: Tenant) -> dict[str, float]:
    quotas = rates.values()
    if quotas and not tenant.users:
        raise UsageFailure("rates are those of users: name some with --user")
    return quotas


def _admit(link: Link, tenant: Tenant, users: tuple[str, ...]) -> None:
    from penstock.cli.tenant import grant

    if not users:
        return
    names = ", ".join(users)
    if grant(link, tenant, users):
        print_line(f"{names} may do everything under {tenant.prefix}")
    else:
        print_line(f"the brokers have no authorizer: not only {names} may, everybody does")


def _limit(link: Link, tenant: Tenant, quotas: dict[str, float]) -> None:
    from penstock.cli.tenant import set_rates

    if quotas:
        set_rates(link, tenant.users, quotas)
        print_line(f"rates are set for {plural(len(tenant.users), 'user')}")


def _of(used: int | None, most: int | None) -> str:
    text = "unlimited" if used is None else str(used)
    return text if most is None else f"{text} of {most}"


def _document(tenant: Tenant, used: Use) -> dict[str, Any]:
    return asdict(tenant) | {"used": asdict(used)}
