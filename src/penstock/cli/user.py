"""Users with a SCRAM password over the protocol: who there is, set, remove. Prints nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

from confluent_kafka.admin import (
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)

from penstock.cli.cluster import Cluster
from penstock.cli.failure import Failure, UsageFailure

KINDS = {
    "SCRAM-SHA-256": ScramMechanism.SCRAM_SHA_256,
    "SCRAM-SHA-512": ScramMechanism.SCRAM_SHA_512,
}
_NAMES = {kind: name for name, kind in KINDS.items()}
SALT_BYTES = 26


class User(NamedTuple):
    name: str
    iterations: dict[str, int]
    """By mechanism."""


def list_users(cluster: Cluster) -> list[User]:
    with cluster.explaining():
        # Of all users together there is one future; of users by name, one for each.
        future: Any = cluster.admin().describe_user_scram_credentials(
            request_timeout=cluster.timeout_s
        )
        found: dict[str, Any] = cluster.answer_of(future)
    return [
        User(
            name,
            {_NAMES[each.mechanism]: each.iterations for each in one.scram_credential_infos},
        )
        for name, one in sorted(found.items())
    ]


def set_password(
    cluster: Cluster, name: str, password: str, mechanisms: Iterable[str], iterations: int
) -> None:
    """Kafka takes one change of a user in a request."""
    for mechanism in mechanisms:
        info = ScramCredentialInfo(KINDS[mechanism], iterations)
        salt = os.urandom(SALT_BYTES)
        _alter(cluster, UserScramCredentialUpsertion(name, info, password.encode(), salt))


def remove_user(cluster: Cluster, name: str, mechanism: str | None) -> list[str]:
    """The mechanisms by which it logs in no more."""
    known = next((each for each in list_users(cluster) if each.name == name), None)
    if known is None:
        raise Failure(f"there is no user {name}; `penstock users list` shows those there are")
    if mechanism is not None and mechanism not in known.iterations:
        raise Failure(f"{name} does not log in by {mechanism}")
    removed = [mechanism] if mechanism is not None else sorted(known.iterations)
    for each in removed:
        _alter(cluster, UserScramCredentialDeletion(name, KINDS[each]))
    return removed


def _alter(cluster: Cluster, change: Any) -> None:
    with cluster.explaining():
        futures = cluster.admin().alter_user_scram_credentials(
            [change], request_timeout=cluster.timeout_s
        )
        for future in futures.values():
            cluster.answer_of(future)


def read_password(file: str | None) -> str:
    """From a file, from standard input, or typed twice. Never from the command line, which others
    on the machine can read."""
    if file is None and sys.stdin.isatty():
        return _typed()
    try:
        if file in (None, "-"):
            text = sys.stdin.readline()
        else:
            with open(str(file), encoding="utf-8") as opened:
                text = opened.readline()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{file}: {getattr(error, 'strerror', None) or 'not UTF-8'}") from error
    return _checked(text.removesuffix("\n").removesuffix("\r"))


def _typed() -> str:
    from getpass import getpass

    password = _checked(getpass("Password: "))
    if getpass("Again: ") != password:
        raise Failure("the passwords differ; nothing was changed")
    return password


def _checked(password: str) -> str:
    if not password:
        raise UsageFailure("the password is empty: type one, or give a file that has one")
    return password
