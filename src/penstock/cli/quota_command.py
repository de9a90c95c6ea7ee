"""`penstock quotas`: what is typed, and what is printed."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import typer

from penstock.cli.argument import Json, link_of, quiet_app
from penstock.cli.cluster import key_values
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.option_set import spread
from penstock.cli.output import print_json, print_line, print_table

app = quiet_app("What clients may take of the cluster: list, set, unset, top.")


class EntityOptions(NamedTuple):
    """Whose quota."""

    user: Annotated[str | None, typer.Option("--user", metavar="NAME", help="Of this user.")] = None
    client: Annotated[
        str | None, typer.Option("--client", metavar="ID", help="Of clients with this id.")
    ] = None
    ip: Annotated[
        str | None, typer.Option("--ip", metavar="ADDRESS", help="Of connections from there.")
    ] = None
    default_user: Annotated[
        bool, typer.Option("--default-user", help="Of each user that has none of its own.")
    ] = False
    default_client: Annotated[
        bool, typer.Option("--default-client", help="Of each client id that has none of its own.")
    ] = False
    default_ip: Annotated[
        bool, typer.Option("--default-ip", help="Of each address that has none of its own.")
    ] = False

    def entity(self) -> Any:
        from penstock.cli.quota import entity_of

        kinds = ("user", "client-id", "ip")
        return entity_of(
            dict(zip(kinds, self[:3], strict=True)), dict(zip(kinds, self[3:], strict=True))
        )


@app.command("list")
def list_command(ctx: typer.Context, as_json: Json = False) -> None:
    """Show every quota that is set."""
    from penstock.cli.quota import describe_quotas, shown_value

    found = describe_quotas(link_of(ctx))
    if as_json:
        print_json([{"entity": dict(each.entity), "quotas": dict(each.values)} for each in found])
        return
    rows = [
        (each.shown, key, shown_value(value))
        for each in found
        for key, value in each.values.items()
    ]
    print_table(("of", "quota", "value"), rows)


@app.command("set")
@spread
def set_command(
    ctx: typer.Context,
    pairs: Annotated[list[str], typer.Argument(metavar="KEY=VALUE...", show_default=False)],
    of: EntityOptions,
    as_json: Json = False,
) -> None:
    """Set quotas, at once: producer_byte_rate and consumer_byte_rate (bytes a second, 5M is
    five MiB), request_percentage (of one broker's time), controller_mutation_rate (partitions
    made or deleted a second), connection_creation_rate (of an address). Each broker holds its
    clients to them by itself."""
    from penstock.cli.quota import alter_quota, parse_values, shown_value

    entity = of.entity()
    values = parse_values(key_values(pairs, "`quotas set`"))
    alter_quota(link_of(ctx), entity, values)
    _tell(entity, values, as_json, "set", [f"{k} = {shown_value(v)}" for k, v in values.items()])


@app.command("unset")
@spread
def unset_command(
    ctx: typer.Context,
    of: EntityOptions,
    keys: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY...", show_default=False, help="Without any, all of them."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Take quotas away, all that are set or those that are named."""
    from penstock.cli.quota import alter_quota, check_key, describe_quotas

    entity = of.entity()
    link = link_of(ctx)
    named = [check_key(key) for key in keys or ()]
    present = [key for quota in describe_quotas(link, entity) for key in quota.values]
    missing = [key for key in named if key not in present]
    if missing or not present:
        raise Failure(f"no quota {missing[0] if missing else ''} is set there".replace("  ", " "))
    gone = named or present
    alter_quota(link, entity, dict.fromkeys(gone))
    _tell(entity, gone, as_json, "unset", [f"{key} is no longer set" for key in gone])


def _tell(entity: Any, what: Any, as_json: bool, word: str, lines: list[str]) -> None:
    from penstock.cli.quota import Quota

    if as_json:
        print_json({"entity": dict(entity), word: what})
        return
    for line in lines:
        print_line(f"{Quota(entity, {}).shown}: {line}")


@app.command("top")
def top_command(
    addresses: Annotated[
        list[str],
        typer.Argument(
            metavar="HOST:PORT...",
            show_default=False,
            help="Where brokers serve metrics (`penstock start --metrics`).",
        ),
    ],
    interval: Annotated[
        float, typer.Option("--interval", "-i", metavar="SECONDS", help="Between two looks.")
    ] = 2.0,
    count: Annotated[
        int, typer.Option("--count", "-n", metavar="N", help="Looks; 0 goes on until Ctrl-C.")
    ] = 0,
    rows: Annotated[int, typer.Option("--rows", metavar="N", help="Clients that are shown.")] = 20,
    as_json: Json = False,
) -> None:
    """Show who uses how much of the brokers, and who has to wait, live."""
    from penstock.cli.quota_top import watch

    if not interval > 0 or count < 0 or rows < 1:
        raise UsageFailure("--interval and --rows take a number above 0, --count 0 or more")
    watch(addresses, interval, count, rows, as_json=as_json)
