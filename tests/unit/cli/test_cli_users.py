"""`penstock users`, on a node that users log in to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.patience import wait_until
from tests.security.sasl_kit import ALICE, SaslBroker, sasl_broker
from tests.unit.cli.conftest import Command


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SaslBroker]:
    with sasl_broker(tmp_path_factory.mktemp("users")) as running:
        yield running


@pytest.fixture
def alice(nowhere: Command, broker: SaslBroker) -> Command:
    return replace(nowhere, servers=broker.secured)


def login(name: str, password: str, mechanism: str = "SCRAM-SHA-512") -> list[str]:
    settings = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": name,
        "sasl.password": password,
    }
    return [word for key, value in settings.items() for word in ("-X", f"{key}={value}")]


def test_users_come_change_and_go(alice: Command, tmp_path: Path) -> None:
    own = login(*ALICE)
    file = tmp_path / "password"
    file.write_text("of bob\n")
    said = alice.run(*own, "users", "add", "bob", "--password-file", str(file)).lines
    assert said == ["bob logs in by SCRAM-SHA-256 and SCRAM-SHA-512"]
    assert "alice  SCRAM-SHA-256  4096" in alice.run(*own, "users", "list").lines
    listed = alice.run(*own, "users", "list", "--json").json
    assert {"name": "bob", "iterations": {"SCRAM-SHA-256": 8192, "SCRAM-SHA-512": 8192}} in listed
    alice.run(*login("bob", "of bob"), "topics", "list")
    changed = (*own, "users", "add", "bob", "--mechanism", "SCRAM-SHA-256", "--iterations", "4096")
    alice.run(*changed, stdin="neu\u00df\n".encode())
    alice.run(*login("bob", "neu\u00df", "SCRAM-SHA-256"), "topics", "list")
    assert alice.run(*own, "users", "remove", "bob", "--mechanism", "SCRAM-SHA-512").lines == [
        "bob no longer logs in by SCRAM-SHA-512"
    ]
    refused = alice.fail(*login("bob", "of bob"), "--timeout", "3", "topics", "list")
    assert "refuses the login: Authentication failed" in refused
    alice.run(*own, "users", "remove", "bob")
    assert "there is no user bob" in alice.fail(*own, "users", "remove", "bob")


def test_an_empty_password_is_none(alice: Command) -> None:
    said = alice.fail(*login(*ALICE), "users", "add", "eve", stdin=b"\n", code=2)
    assert said.startswith("the password is empty")


def test_users_of_either_broker(command: Command) -> None:
    """Kept by any broker, whether somebody could log in there or not."""
    said = command.run("users", "add", "dora", "--iterations", "4096", stdin=b"hush\n").lines
    assert said == ["dora logs in by SCRAM-SHA-256 and SCRAM-SHA-512"]
    dora = {"name": "dora", "iterations": {"SCRAM-SHA-256": 4096, "SCRAM-SHA-512": 4096}}

    def listed() -> list[object]:
        return [each for each in command.run("users", "list", "--json").json if each == dora]

    wait_until(lambda: listed() == [dora], "the user is known")
    assert command.run("users", "remove", "dora", "--mechanism", "SCRAM-SHA-256").lines == [
        "dora no longer logs in by SCRAM-SHA-256"
    ]
    command.run("users", "remove", "dora")
    wait_until(lambda: "dora" not in command.run("users", "list").out.decode(), "the user is gone")
