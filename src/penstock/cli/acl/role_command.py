"""`penstock roles`: what is typed, and what is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.acl.argument import (
    EntryOptions,
    Operations,
    ResourceOptions,
    entries_of,
    principal_of,
)
from penstock.cli.argument import Json, link_of, quiet_app
from penstock.cli.failure import UsageFailure
from penstock.cli.option_set import spread
from penstock.cli.output import note, plural, print_json, print_line, print_table

if TYPE_CHECKING:
    from penstock.cli.acl.role import Role

app = quiet_app("Named sets of grants for users: add, remove, grant, revoke, list, show, delete.")

Name = Annotated[str, typer.Argument(metavar="ROLE", show_default=False, help="Its name.")]
Users = Annotated[
    list[str], typer.Argument(metavar="USER...", show_default=False, help="Whom: alice, User:bob.")
]


@app.command("list")
def list_command(ctx: typer.Context, as_json: Json = False) -> None:
    """Show all roles: how much they allow, and who has them."""
    from penstock.cli.acl.role import read_roles

    roles = read_roles(link_of(ctx))
    if as_json:
        print_json([_document(role) for role in roles.values()])
        return
    rows = [
        (role.name, len(role.grants), ", ".join(_name(each.principal) for each in role.members))
        for role in roles.values()
    ]
    print_table(("role", "entries", "users"), [(*row[:2], row[2] or None) for row in rows])


@app.command("show")
def show_command(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show one role: what it allows, and who has it."""
    from penstock.cli.acl.entry import told
    from penstock.cli.acl.role import find_role, read_roles

    role = find_role(read_roles(link_of(ctx)), name)
    if as_json:
        print_json(_document(role))
        return
    for acl in role.grants:
        print_line(told(acl))
    for member in role.members:
        lacking = f", but lacks {plural(len(member.missing), 'grant')} of it"
        print_line(f"{member.principal} has it{lacking if member.missing else ''}")


@app.command("add")
@spread
def add_command(
    ctx: typer.Context,
    name: Name,
    operations: Operations,
    about: ResourceOptions,
    how: EntryOptions,
) -> None:
    """Let a role allow something more, to all who have it. A new name is a new role.

    \b
    penstock roles add reader read --topic orders
    penstock roles grant reader alice bob
    """
    from penstock.cli.acl.entry import told
    from penstock.cli.acl.role import ROLE, add_grants

    _check_name(name)
    acls = entries_of(ROLE + name, operations, about, how)
    members = add_grants(link_of(ctx), name, acls)
    for acl in acls:
        print_line(told(acl))
    if members:
        print_line(f"so for {plural(len(members), 'user')} who have it")


@app.command("remove")
@spread
def remove_command(
    ctx: typer.Context,
    name: Name,
    operations: Operations,
    about: ResourceOptions,
    how: EntryOptions,
) -> None:
    """Take something back from a role and from all who have it, written as it was added."""
    from penstock.cli.acl.entry import told
    from penstock.cli.acl.role import ROLE, remove_grants

    acls = entries_of(ROLE + name, operations, about, how)
    removed = remove_grants(link_of(ctx), name, acls)
    for acl in removed:
        print_line(f"no longer: {told(acl)}")
    if not removed:
        note(f"there was no such entry; `penstock roles show {name}` shows those there are")


@app.command("grant")
def grant_command(ctx: typer.Context, name: Name, users: Users) -> None:
    """Give a role to users. Given again, it mends what they lack of it."""
    from penstock.cli.acl.role import give

    role = give(link_of(ctx), name, [principal_of(user) for user in users])
    print_line(f"{', '.join(users)}: {name}, {plural(len(role.grants), 'grant')}")


@app.command("revoke")
def revoke_command(ctx: typer.Context, name: Name, users: Users) -> None:
    """Take a role from users, with its entries, unless another role of theirs has the same."""
    from penstock.cli.acl.role import take

    taken = take(link_of(ctx), name, [principal_of(user) for user in users])
    for principal in taken:
        print_line(f"no longer: {principal} {name}")
    if not taken:
        note(f"they did not have it; `penstock roles show {name}` shows who has")


@app.command("delete")
def delete_command(ctx: typer.Context, name: Name) -> None:
    """Delete a role, and take it from all who have it."""
    from penstock.cli.acl.role import forget

    role = forget(link_of(ctx), name)
    print_line(f"role {name} is deleted, and taken from {plural(len(role.members), 'user')}")


def _check_name(name: str) -> None:
    if not name or ":" in name or "*" in name:
        raise UsageFailure(f"{name!r} is no name of a role: leave out `:` and `*`")


def _name(principal: str) -> str:
    return principal.removeprefix("User:")


def _document(role: Role) -> dict[str, Any]:
    from penstock.cli.acl.entry import document

    return {
        "role": role.name,
        "entries": [document(acl) for acl in role.grants],
        "users": [
            {"principal": each.principal, "missing": [document(acl) for acl in each.missing]}
            for each in role.members
        ],
    }
