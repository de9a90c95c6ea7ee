"""Profiles: which cluster a command talks to, and where that is kept."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from penstock.cli.failure import Failure
from penstock.cli.profile import (
    Profile,
    Profiles,
    Target,
    choose_target,
    profiles_path,
    read_profiles,
    write_profiles,
)
from tests.unit.cli.conftest import Command

STAGING = Profile("staging", "staging:9093", {"sasl.password": "s"})
KNOWN = Profiles({"staging": STAGING}, None)
IN_USE = Profiles({"staging": STAGING}, "staging")
SETTINGS = STAGING.settings


@pytest.mark.parametrize(
    ("servers", "profile", "environment", "profiles", "target"),
    [
        (None, None, {}, KNOWN, Target("127.0.0.1:9092")),
        (None, None, {}, IN_USE, Target("staging:9093", SETTINGS, "staging")),
        ("h:1", None, {}, IN_USE, Target("h:1")),
        (None, None, {"PENSTOCK_BOOTSTRAP_SERVERS": "e:1"}, IN_USE, Target("e:1")),
        ("h:1", None, {"PENSTOCK_BOOTSTRAP_SERVERS": "e:1"}, IN_USE, Target("h:1")),
        (None, "staging", {}, KNOWN, Target("staging:9093", SETTINGS, "staging")),
        ("h:1", "staging", {}, KNOWN, Target("h:1", SETTINGS, "staging")),
        (
            None,
            "staging",
            {"PENSTOCK_BOOTSTRAP_SERVERS": "e:1"},
            KNOWN,
            Target("staging:9093", SETTINGS, "staging"),
        ),
        (
            None,
            None,
            {"PENSTOCK_PROFILE": "staging"},
            KNOWN,
            Target("staging:9093", SETTINGS, "staging"),
        ),
        (
            None,
            None,
            {"PENSTOCK_PROFILE": "staging", "PENSTOCK_BOOTSTRAP_SERVERS": "e:1"},
            KNOWN,
            Target("e:1", SETTINGS, "staging"),
        ),
        (
            None,
            "staging",
            {"PENSTOCK_PROFILE": "other"},
            KNOWN,
            Target("staging:9093", SETTINGS, "staging"),
        ),
    ],
)
def test_what_comes_first(
    servers: str | None,
    profile: str | None,
    environment: dict[str, str],
    profiles: Profiles,
    target: Target,
) -> None:
    assert choose_target(servers, profile, environment, lambda: profiles) == target


def test_an_address_alone_needs_no_file() -> None:
    def unreadable() -> Profiles:
        raise AssertionError("read")

    assert choose_target("h:1", None, {}, unreadable) == Target("h:1")


def test_a_profile_that_is_not_there() -> None:
    with pytest.raises(Failure, match="there is no profile other"):
        choose_target(None, "other", {}, lambda: KNOWN)


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "penstock" / "profiles.json"
    write_profiles(IN_USE, path)
    assert read_profiles(path) == IN_USE
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["profiles.json"]


@pytest.mark.parametrize("content", ["", "[]", "{", '{"profiles": 3, "current": null}', "\xff"])
def test_a_file_that_cannot_be_understood(tmp_path: Path, content: str) -> None:
    path = tmp_path / "profiles.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(Failure, match="cannot be understood"):
        read_profiles(path)


def test_where_it_is_kept() -> None:
    assert profiles_path({"XDG_CONFIG_HOME": "/etc/x"}) == Path("/etc/x/penstock/profiles.json")
    assert profiles_path({"XDG_CONFIG_HOME": "x"}) == Path.home() / ".config/penstock/profiles.json"


def test_the_commands(command: Command, tmp_path: Path) -> None:
    home = {"XDG_CONFIG_HOME": str(tmp_path), "PENSTOCK_BOOTSTRAP_SERVERS": ""}

    def run(*arguments: str) -> list[str]:
        return command.run(*arguments, environment=home).lines

    assert run("profile", "add", "here", command.servers, "-X", "client.id=me") == ["added here"]
    assert run("profile", "add", "away", "127.0.0.1:1", "-X", "sasl.password=geheim", "--use") == [
        "added away, in use now"
    ]
    said = command.fail("topics", "list", environment=home)
    assert said.startswith("no broker answers at 127.0.0.1:1;")
    assert said.endswith("(profile away)")
    assert run("topics", "list", "--profile", "here")[0].startswith("TOPIC")
    assert run("--profile", "here", "topics", "list")[0].startswith("TOPIC")
    assert run("profile", "use", "here") == [f"using here: {command.servers}"]
    assert run("topics", "list")[0].startswith("TOPIC")
    shown = command.run("profile", "show", "away", "--json", environment=home).json
    assert shown["settings"] == {"sasl.password": "(hidden)"}
    assert "geheim" not in "".join(run("profile", "show", "away"))
    assert run("profile", "remove", "here") == ["removed here"]
    assert "no profile is in use" in command.fail("profile", "show", environment=home)
    assert json.loads((tmp_path / "penstock/profiles.json").read_text())["current"] is None


def test_mistakes(nowhere: Command, tmp_path: Path) -> None:
    home = {"XDG_CONFIG_HOME": str(tmp_path)}
    nowhere.run("profile", "add", "a", "h:1", environment=home)
    assert "--replace" in nowhere.fail("profile", "add", "a", "h:2", environment=home)
    nowhere.run("profile", "add", "a", "h:2", "--replace", environment=home)
    assert "HOST:PORT" in nowhere.fail("profile", "add", "b", "h:x", code=2, environment=home)
    assert "letters" in nowhere.fail("profile", "add", "b/c", "h:1", code=2, environment=home)
    assert "there is no profile b" in nowhere.fail("profile", "use", "b", environment=home)
    blocked = {"XDG_CONFIG_HOME": os.devnull}
    assert "Not a directory" in nowhere.fail("profile", "add", "a", "h:1", environment=blocked)
