"""Profiles: clusters by name, kept in the user's configuration folder.

A profile holds bootstrap servers and client settings, passwords among them: the file is its
owner's alone. Which cluster a command talks to is decided here (`choose_target`); a broker's own
start never looks.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from penstock.cli.failure import Failure, UsageFailure

DEFAULT_BOOTSTRAP_SERVERS = "127.0.0.1:9092"
BOOTSTRAP_VARIABLE = "PENSTOCK_BOOTSTRAP_SERVERS"
PROFILE_VARIABLE = "PENSTOCK_PROFILE"
_SECRET = re.compile(r"password|secret|\.key$|\.pem$|jaas|token")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Profile(NamedTuple):
    name: str
    bootstrap_servers: str
    settings: dict[str, str]

    def shown_settings(self) -> dict[str, str]:
        return {
            key: "(hidden)" if _SECRET.search(key) else value
            for key, value in self.settings.items()
        }


class Profiles(NamedTuple):
    by_name: dict[str, Profile]
    current: str | None

    def find(self, name: str) -> Profile:
        found = self.by_name.get(name)
        if found is None:
            raise Failure(
                f"there is no profile {name}; `penstock profile list` shows those there are"
            )
        return found


class Target(NamedTuple):
    bootstrap_servers: str = DEFAULT_BOOTSTRAP_SERVERS
    settings: Mapping[str, str] = {}
    profile: str | None = None
    """The profile that address or settings come from."""


def choose_target(
    servers: str | None,
    profile: str | None,
    environment: Mapping[str, str],
    read: Callable[[], Profiles],
) -> Target:
    """Option before environment before the profile in use before the default.

    An address that is given goes without the profile in use: one cluster's password is never
    sent to another. A profile that is named, too, gives its settings to that address.
    """
    named = profile or environment.get(PROFILE_VARIABLE)
    from_environment = environment.get(BOOTSTRAP_VARIABLE)
    address = servers or (None if profile else from_environment)
    if address and not named:
        return Target(address)
    profiles = read()
    wanted = named or profiles.current
    if wanted is None:
        return Target()
    found = profiles.find(wanted)
    return Target(address or found.bootstrap_servers, found.settings, found.name)


def check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise UsageFailure(f"a profile's name is letters, digits, '.', '_' and '-', not {name!r}")
    return name


def profiles_path(environment: Mapping[str, str] = os.environ) -> Path:
    folder = environment.get("XDG_CONFIG_HOME")
    # The XDG rules: a relative folder is ignored.
    home = Path(folder) if folder and Path(folder).is_absolute() else Path.home() / ".config"
    return home / "penstock" / "profiles.json"


def read_profiles(path: Path | None = None) -> Profiles:
    path = path or profiles_path()
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return Profiles({}, None)
    try:
        return _decode(json.loads(content))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise Failure(f"{path} cannot be understood; mend it or remove it") from None


def _decode(document: Any) -> Profiles:
    by_name = {
        str(name): Profile(
            str(name),
            str(each["bootstrap_servers"]),
            {str(key): str(value) for key, value in each["settings"].items()},
        )
        for name, each in document["profiles"].items()
    }
    current = document["current"]
    return Profiles(by_name, current if current in by_name else None)


def write_profiles(profiles: Profiles, path: Path | None = None) -> None:
    """Whole or not at all, and readable by nobody else."""
    path = path or profiles_path()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    document = {
        "current": profiles.current,
        "profiles": {
            each.name: {"bootstrap_servers": each.bootstrap_servers, "settings": each.settings}
            for each in profiles.by_name.values()
        },
    }
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        json.dump(document, file, ensure_ascii=False, indent=2)
        file.write("\n")
    draft.replace(path)
