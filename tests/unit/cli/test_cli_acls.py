"""`penstock acls` against a running broker with an authorizer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.authorization.grants import ADMIN
from tests.authorization.login import PASSWORD
from tests.authorization.target import penstock
from tests.security.sasl_kit import SaslBroker
from tests.unit.cli.command_server import CommandServer
from tests.unit.cli.conftest import Answer, Command


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SaslBroker]:
    with penstock(tmp_path_factory.mktemp("acls"), {"alice": None}) as running:
        yield running


class Acls:
    def __init__(self, broker: SaslBroker, command_server: CommandServer) -> None:
        self._command = Command(broker.secured, command_server)

    def _words(self, user: str, words: tuple[str, ...]) -> list[str]:
        settings = {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": user,
            "sasl.password": PASSWORD,
        }
        given = [word for pair in settings.items() for word in ("-X", "=".join(pair))]
        return ["acls", *words, *given]

    def run(self, *words: str) -> Answer:
        return self._command.run(*self._words(ADMIN, words))

    def fail(self, *words: str, user: str = ADMIN, code: int = 1) -> str:
        return self._command.fail(*self._words(user, words), code=code)


@pytest.fixture
def acls(broker: SaslBroker, command_server: CommandServer) -> Acls:
    return Acls(broker, command_server)


def test_entries_are_added_listed_explained_and_removed(acls: Acls) -> None:
    added = acls.run("add", "alice", "read", "describe-configs", "--topic", "orders")
    assert added.lines == [
        "allow User:alice to READ topic orders from anywhere",
        "allow User:alice to DESCRIBE_CONFIGS topic orders from anywhere",
    ]
    acls.run("add", "*", "read", "--topic", "ord", "--prefixed", "--deny", "--host", "10.0.0.0/8")

    listed = acls.run("list", "--topic", "orders").lines
    assert [line.split() for line in listed[1:]] == [
        ["User:*", "deny", "READ", "topic", "ord...", "10.0.0.0/8"],
        ["User:alice", "allow", "READ", "topic", "orders", "*"],
        ["User:alice", "allow", "DESCRIBE_CONFIGS", "topic", "orders", "*"],
    ]
    assert len(acls.run("list", "--user", "alice", "--json").json) == 2

    explained = acls.run("explain", "alice", "describe", "--topic", "orders").lines
    assert explained[:2] == [
        "allowed: User:alice to DESCRIBE topic orders from 127.0.0.1",
        "by: allow User:alice to READ topic orders from anywhere",
    ]
    refused = acls.run("explain", "alice", "read", "--topic", "orders", "--host", "10.2.3.4")
    assert refused.lines[:2] == [
        "refused: User:alice to READ topic orders from 10.2.3.4",
        "by: deny User:* to READ every topic that begins with ord from 10.0.0.0/8",
    ]
    unsaid = acls.run("explain", "bob", "write", "--topic", "orders", "--json").json
    assert (unsaid["allowed"], unsaid["by"], len(unsaid["also"])) == (False, None, 3)

    removed = acls.run("remove", "alice", "read", "--topic", "orders")
    assert removed.lines == ["no longer: allow User:alice to READ topic orders from anywhere"]
    again = acls.run("explain", "alice", "read", "--topic", "orders").lines
    assert again[0] == "refused: User:alice to READ topic orders from 127.0.0.1"


def test_the_cluster_groups_and_transactional_ids(acls: Acls) -> None:
    assert acls.run("add", "User:bob", "describe", "--cluster").lines == [
        "allow User:bob to DESCRIBE the cluster from anywhere"
    ]
    assert acls.run("add", "bob", "read", "--group", "*").lines == [
        "allow User:bob to READ every group from anywhere"
    ]
    assert acls.run("add", "bob", "write", "--transactional-id", "t").lines == [
        "allow User:bob to WRITE transactional id t from anywhere"
    ]


def test_what_is_mistyped_or_not_allowed_is_told(acls: Acls) -> None:
    said = acls.fail("add", "alice", "read", code=2)
    assert said == "name what it is about: --topic, --group, --transactional-id, --cluster"
    assert "one of --topic" in acls.fail("add", "a", "read", "--topic", "t", "--cluster", code=2)
    assert "'write' is nothing to be done with a group" in acls.fail(
        "add", "alice", "write", "--group", "g", code=2
    )
    said = acls.fail("list", user="alice")
    assert said == "entries are shown only to those who may DESCRIBE the cluster"
    assert "CLUSTER_AUTHORIZATION_FAILED" in acls.fail(
        "add", "alice", "read", "--topic", "t", user="alice"
    )


@pytest.mark.parametrize("command", ["penstock"], indirect=True)
def test_without_an_authorizer_it_says_how_to_have_one(command: Command) -> None:
    for words in (("acls", "list"), ("roles", "list"), ("acls", "review")):
        said = command.fail(*words)
        assert "SECURITY_DISABLED" in said
        assert "authorizer.class.name" in said
