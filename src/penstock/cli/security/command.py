"""`penstock security`: what is typed, and what is printed. Nothing of it asks a broker."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.argument import quiet_app
from penstock.cli.extra import need_security
from penstock.cli.failure import Failure
from penstock.cli.help import PlainCommand
from penstock.cli.output import print_line

if TYPE_CHECKING:
    from penstock.cli.security.playground import File, Playground

app = quiet_app("Certificates and settings of a secure cluster: init.")

DEFAULT_DIR = "./penstock-secure"
_CLIENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_PRODUCTION = (
    "For a playground on this machine. In production: certificates of your own authority, whose",
    "key is on no node; the names of your hosts in them (--host); a password on each key, or a",
    "disk that is encrypted; and new certificates before these expire in a year.",
)


@app.callback()
def security() -> None:
    """Certificates and settings of a secure cluster."""


@app.command("init", cls=PlainCommand)
def init_command(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="Where to; it must not exist yet.")
    ] = DEFAULT_DIR,
    nodes: Annotated[int, typer.Option(min=1, max=50, help="How many nodes.")] = 1,
    client: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", show_default="admin", help="A client."),
    ] = None,
    host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST",
            show_default="localhost, 127.0.0.1",
            help="Another name or address of the nodes.",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(metavar="PORT", help="Of the first node; the others follow it.")
    ] = 9092,
    logins: Annotated[
        bool, typer.Option("--logins", help="Also a listener for users with passwords (SCRAM).")
    ] = False,
    acls: Annotated[
        bool, typer.Option("--acls", help="Nobody but the first client may do anything yet.")
    ] = False,
    audit: Annotated[bool, typer.Option("--audit", help="Keep an audit log.")] = False,
) -> None:
    """Make an authority, certificates of nodes and clients, and their settings.

    All listeners are encrypted, and everybody needs a certificate of the authority.

    \b
    penstock security init secure
    penstock security init secure --nodes 3 --client alice --client bob
    penstock security init secure --nodes 3 --logins --acls --audit
    """
    need_security()
    from penstock.cli.security.authority import Authority
    from penstock.cli.security.playground import Playground, Wanted

    clients = list(dict.fromkeys(client or ("admin",)))
    for name in clients:
        if _CLIENT.fullmatch(name) is None or name.startswith("node-") or name == "ca":
            raise Failure(f"{name!r} is no name of a client: use letters, digits, '.', '_' and '-'")
    wanted = Wanted(logins, acls, audit)
    made = Playground(Path(folder).absolute(), nodes, clients, host or (), port, wanted)
    _write(made, list(made.files(Authority.create())))
    _print_next(made, clients[0], logins=logins)


def _write(made: Playground, files: list[File]) -> None:
    try:
        made.folder.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        raise Failure(
            f"{made.folder} exists already: name another directory, or remove it"
        ) from None
    for file in files:
        mode = 0o600 if file.is_secret else 0o644
        fd = os.open(file.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with open(fd, "w", encoding="utf-8") as opened:
            opened.write(file.text)


def _print_next(made: Playground, client: str, *, logins: bool) -> None:
    print_line(f"made {made.folder}: an authority, {len(made.nodes)} node(s), and clients\n")
    configs = [str(made.config_of(node)) for node in made.nodes]
    if len(configs) > 1:
        from uuid import uuid4

        from penstock.model.id import id_to_str

        cluster_id = id_to_str(uuid4().bytes).replace("-", "_")
        for config in configs:
            print_line(f"penstock storage format -c {config} -t {cluster_id}")
    for config in configs:
        print_line(f"penstock start --config {config}")
    settings = " ".join(f"-X {key}={value}" for key, value in made.client_settings(client).items())
    print_line(f"penstock profile add {client} {made.bootstrap_servers} --use {settings}\n")
    if logins:
        print_line(f"users with passwords log in at {made.login_servers} (penstock users add)\n")
    print_line(f"Java's clients and tools take {made.folder / f'{client}.properties'}\n")
    for line in _PRODUCTION:
        print_line(line)
