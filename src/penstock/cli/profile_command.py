"""`penstock profile`: what is typed, and what is printed."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from penstock.cli.argument import Json, quiet_app
from penstock.cli.cluster import key_values, parse_address
from penstock.cli.completion import complete_profiles
from penstock.cli.failure import Failure
from penstock.cli.help import PlainCommand
from penstock.cli.output import print_json, print_line, print_table
from penstock.cli.profile import (
    PROFILE_VARIABLE,
    Profile,
    Profiles,
    check_name,
    profiles_path,
    read_profiles,
    write_profiles,
)

app = quiet_app("Clusters by name: add, use, list, show, remove.")

NewName = Annotated[
    str, typer.Argument(metavar="NAME", show_default=False, help="What to call the cluster.")
]
Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        show_default=False,
        help="A profile that was added.",
        autocompletion=complete_profiles,
    ),
]


@app.command("add", cls=PlainCommand)
def add_command(
    name: NewName,
    servers: Annotated[
        str,
        typer.Argument(
            metavar="HOST:PORT", show_default=False, help="Its brokers, separated by commas."
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option("-X", metavar="KEY=VALUE", help="A librdkafka setting, such as for SASL."),
    ] = None,
    use: Annotated[bool, typer.Option("--use", help="Use it from now on.")] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a profile of that name.")
    ] = False,
) -> None:
    """Add a cluster.

    \b
    penstock profile add local 127.0.0.1:9092
    penstock profile add staging kafka.example.org:9093 --use \\
      -X security.protocol=SASL_SSL -X sasl.mechanisms=PLAIN \\
      -X sasl.username=me -X sasl.password=secret
    """
    check_name(name)
    for each in servers.split(","):
        parse_address(each)
    profile = Profile(name, servers, key_values(settings or (), "-X"))
    before = read_profiles()
    if name in before.by_name and not replace:
        raise Failure(f"there is a profile {name} already; --replace changes it")
    write_profiles(Profiles(before.by_name | {name: profile}, name if use else before.current))
    print_line(f"added {name}" + (", in use now" if use else ""))


@app.command("use", cls=PlainCommand)
def use_command(name: Name) -> None:
    """Use a profile in every command from now on."""
    profiles = read_profiles()
    found = profiles.find(name)
    write_profiles(Profiles(profiles.by_name, name))
    print_line(f"using {name}: {found.bootstrap_servers}")
    named = os.environ.get(PROFILE_VARIABLE)
    if named and named != name:
        print_line(f"in this shell {PROFILE_VARIABLE}={named} comes first")


@app.command("list", cls=PlainCommand)
def list_command(as_json: Json = False) -> None:
    """List the profiles."""
    profiles = read_profiles()
    if as_json:
        print_json([_document(each, profiles) for each in profiles.by_name.values()])
        return
    rows = [
        ("*" if each.name == profiles.current else "", each.name, each.bootstrap_servers)
        for each in profiles.by_name.values()
    ]
    print_table(("used", "profile", "servers"), rows)


@app.command("show", cls=PlainCommand)
def show_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            show_default="the one in use",
            help="A profile that was added.",
            autocompletion=complete_profiles,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a profile; passwords are hidden."""
    profiles = read_profiles()
    wanted = name or os.environ.get(PROFILE_VARIABLE) or profiles.current
    if wanted is None:
        raise Failure("no profile is in use; `penstock profile list` shows those there are")
    profile = profiles.find(wanted)
    if as_json:
        print_json(_document(profile, profiles))
        return
    print_line(f"{profile.name}  {profile.bootstrap_servers}")
    for key, value in profile.shown_settings().items():
        print_line(f"  {key} = {value}")
    print_line(f"kept in {profiles_path()}")


def _document(profile: Profile, profiles: Profiles) -> dict[str, object]:
    return {
        "profile": profile.name,
        "used": profile.name == profiles.current,
        "bootstrap_servers": profile.bootstrap_servers,
        "settings": profile.shown_settings(),
    }


@app.command("remove", cls=PlainCommand)
def remove_command(name: Name) -> None:
    """Remove a profile."""
    profiles = read_profiles()
    profiles.find(name)
    rest = {key: each for key, each in profiles.by_name.items() if key != name}
    write_profiles(Profiles(rest, None if profiles.current == name else profiles.current))
    print_line(f"removed {name}")
