"""`penstock users`: what is typed, and what is printed."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from penstock.cli.argument import Json, cluster_of, quiet_app
from penstock.cli.output import print_json, print_line, print_table

app = quiet_app("Users who log in by SCRAM: list, add, remove.")


class Mechanism(StrEnum):
    sha_256 = "SCRAM-SHA-256"
    sha_512 = "SCRAM-SHA-512"


Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False)]


@app.command("list")
def list_command(ctx: typer.Context, as_json: Json = False) -> None:
    """Show all users, and how they log in."""
    from penstock.cli.user import list_users

    users = list_users(cluster_of(ctx))
    if as_json:
        print_json([{"name": each.name, "iterations": each.iterations} for each in users])
        return
    rows = [
        (each.name, mechanism, str(iterations))
        for each in users
        for mechanism, iterations in sorted(each.iterations.items())
    ]
    print_table(("user", "mechanism", "iterations"), rows)


@app.command("add")
def add_command(
    ctx: typer.Context,
    name: Name,
    mechanism: Annotated[
        list[Mechanism] | None,
        typer.Option(
            metavar="MECHANISM",
            show_default="both",
            help="SCRAM-SHA-256 or SCRAM-SHA-512; may be given twice.",
        ),
    ] = None,
    iterations: Annotated[
        int,
        typer.Option(
            metavar="COUNT", min=4096, max=16384, help="How often the password is hashed."
        ),
    ] = 8192,
    password_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            show_default="ask",
            help="A file whose first line is the password; - for standard input.",
        ),
    ] = None,
) -> None:
    """Add a user, or give one another password.

    Whoever is logged in stays so. The password is asked for, or read from a file or standard
    input.
    """
    from penstock.cli.user import read_password, set_password

    cluster = cluster_of(ctx)
    password = read_password(password_file)
    chosen = [each.value for each in mechanism or Mechanism]
    set_password(cluster, name, password, chosen, iterations)
    print_line(f"{name} logs in by {' and '.join(chosen)}")


@app.command("remove")
def remove_command(
    ctx: typer.Context,
    name: Name,
    mechanism: Annotated[
        Mechanism | None,
        typer.Option(metavar="MECHANISM", show_default="all", help="Keep the others."),
    ] = None,
) -> None:
    """Remove a user, who can log in no more.

    Connections that are open stay open.
    """
    from penstock.cli.user import remove_user

    removed = remove_user(cluster_of(ctx), name, mechanism)
    print_line(f"{name} no longer logs in by {' and '.join(removed)}")
