"""Client settings that say where their value is."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.cli.cluster import Cluster
from penstock.cli.failure import UsageFailure
from penstock.cli.profile import Target
from tests.security.sasl_kit import ALICE, sasl_broker
from tests.unit.cli.conftest import Command


def given(*settings: str, kept: dict[str, str] | None = None) -> dict[str, str]:
    return Cluster(Target(settings=kept or {}), client_settings=settings).given_settings


def test_where_values_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_ALICE", "won$der{land}")
    (tmp_path / "password").write_text("hush\n")
    (tmp_path / "secrets.properties").write_text("alice=in a line\n")
    assert given("sasl.password=${env:OF_ALICE}") == {"sasl.password": "won$der{land}"}
    assert given(f"a=${{directory:{tmp_path}:password}}") == {"a": "hush"}
    assert given(f"a=${{file:{tmp_path}/secrets.properties:alice}}") == {"a": "in a line"}
    assert given("b=2", kept={"a": "<${env:OF_ALICE}>"}) == {"a": "<won$der{land}>", "b": "2"}
    assert given("a=${nobody:x}", "b=$5") == {"a": "${nobody:x}", "b": "$5"}


def test_what_is_nowhere_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OF_NOBODY", raising=False)
    with pytest.raises(UsageFailure, match="the environment has no OF_NOBODY"):
        given("sasl.password=${env:OF_NOBODY}")
    with pytest.raises(UsageFailure, match="cannot read"):
        given(f"sasl.password=${{directory:{tmp_path}:gone}}")


def test_a_profile_keeps_where_it_is_and_not_what(nowhere: Command, tmp_path: Path) -> None:
    (tmp_path / "password").write_text(f"{ALICE[1]}\n")
    settings = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": ALICE[0],
        "sasl.password": f"${{directory:{tmp_path}:password}}",
    }
    words = [word for key, value in settings.items() for word in ("-X", f"{key}={value}")]
    home = {"XDG_CONFIG_HOME": str(tmp_path)}
    with sasl_broker(tmp_path) as broker:
        nowhere.run("profile", "add", "mine", broker.secured, *words, environment=home)
        nowhere.run("--profile", "mine", "topics", "create", "of-alice", environment=home)
        listed = nowhere.run("--profile", "mine", "topics", "list", environment=home)
    assert "of-alice" in listed.out.decode()
    (kept,) = tmp_path.rglob("profiles.json")
    assert ALICE[1] not in kept.read_text()


def test_users_to_begin_with(nowhere: Command, tmp_path: Path) -> None:
    """`storage format` says it of a reference to nothing, before it touches anything."""
    user = "SCRAM-SHA-256=[name=admin,password=${env:OF_NOBODY}]"
    config = tmp_path / "server.properties"
    format_it = ("storage", "format", "-c", str(config), "-t", "x", "--add-scram", user)
    assert "the environment has no OF_NOBODY" in nowhere.fail(*format_it, code=2)
