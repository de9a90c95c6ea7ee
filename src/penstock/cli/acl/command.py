"""`penstock acls`: what is typed, and what is printed."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.acl import review_command
from penstock.cli.acl.argument import (
    EntryOptions,
    Operations,
    ResourceOptions,
    User,
    entries_of,
    operation_of,
    principal_of,
)
from penstock.cli.argument import Json, link_of, quiet_app
from penstock.cli.option_set import spread
from penstock.cli.output import note, print_json, print_line, print_table
from penstock.model.acl import ResourceType

app = quiet_app("Who may do what: list, add, remove, explain, review.")
app.command("review")(review_command.review_command)


@app.command("list")
@spread
def list_command(
    ctx: typer.Context,
    about: ResourceOptions,
    user: Annotated[
        str | None, typer.Option("--user", metavar="USER", help="Only those for one user.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show entries; of a name, all that apply to it."""
    from penstock.cli.acl.entry import acl_row, document, read_acls

    resource = about.named()
    acls = read_acls(
        link_of(ctx),
        ResourceType.ANY if resource is None else resource.type,
        None if resource is None else resource.name,
        None if user is None else principal_of(user),
    )
    if as_json:
        print_json([document(acl) for acl in acls])
        return
    rows = [(acl.principal, *acl_row(acl)) for acl in acls]
    print_table(("principal", "", "operation", "resource", "name", "host"), rows)


@app.command("add")
@spread
def add_command(
    ctx: typer.Context,
    user: User,
    operations: Operations,
    about: ResourceOptions,
    how: EntryOptions,
    as_json: Json = False,
) -> None:
    """Allow a user something, or refuse it."""
    from penstock.cli.acl.entry import add_acls, document, told

    acls = entries_of(principal_of(user), operations, about, how)
    add_acls(link_of(ctx), acls)
    if as_json:
        print_json([document(acl) for acl in acls])
        return
    for acl in acls:
        print_line(told(acl))


@app.command("remove")
@spread
def remove_command(
    ctx: typer.Context,
    user: User,
    operations: Operations,
    about: ResourceOptions,
    how: EntryOptions,
    as_json: Json = False,
) -> None:
    """Take entries back, written as they were added."""
    from penstock.cli.acl.entry import document, remove_acls, told

    acls = entries_of(principal_of(user), operations, about, how)
    removed = remove_acls(link_of(ctx), acls)
    if as_json:
        print_json([document(acl) for acl in removed])
        return
    for acl in removed:
        print_line(f"no longer: {told(acl)}")
    if not removed:
        note("there was no such entry; `penstock acls list` shows those there are")


@app.command("explain")
@spread
def explain_command(
    ctx: typer.Context,
    user: User,
    operation: Annotated[
        str,
        typer.Argument(
            metavar="OPERATION", show_default=False, help="What is to be done: read, write."
        ),
    ],
    about: ResourceOptions,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="The address of the client.")
    ] = "127.0.0.1",
    as_json: Json = False,
) -> None:
    """Say why something is allowed or refused, and by which entry."""
    from penstock.cli.acl.explain import explain

    resource = about.required()
    wanted = operation_of(operation, resource.type)
    explanation = explain(link_of(ctx), principal_of(user), host, wanted, resource)
    if as_json:
        print_json(explanation.document())
        return
    for line in explanation.lines():
        print_line(line)
