"""Settings that promise what is not there end the start, with one line that names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.settings.broker import BROKER_KEYS
from penstock.settings.config import BrokerConfig
from penstock.settings.error import SettingError
from penstock.settings.key import BOOLEAN, LIST, PROMISE, Key

SECURITY = ("principal.",)


def refusal(*assignments: str, path: Path | None = None) -> str:
    with pytest.raises(SettingError) as caught:
        BrokerConfig.load(path, assignments)
    message = str(caught.value)
    assert "\n" not in message
    return message


def another_value(key: Key) -> str:
    """Valid by itself, and not the default."""
    for text in ("true", "required", "SSL", "86", "0.25", "ES256", "some.plugin.Class"):
        try:
            key.parse(text)
            if not key.is_default(text):
                return text
        except ValueError:
            continue
    raise AssertionError(key)


@pytest.mark.parametrize(
    "name", [name for name, key in BROKER_KEYS.items() if key.effect == PROMISE]
)
def test_each_of_them_is_refused_by_name_unless_it_is_the_default(name: str) -> None:
    key = BROKER_KEYS[name]
    said = refusal(f"{name}={another_value(key)}")
    assert said.startswith(f"--set: {name}")
    assert "; " in said, "says what to do"
    if key.default is not None:
        BrokerConfig.load(None, [f"{name}={key.default}"])


@pytest.mark.parametrize("prefix", SECURITY)
def test_whatever_is_about_security_is_one_of_them(prefix: str) -> None:
    found = [key for name, key in BROKER_KEYS.items() if name.startswith(prefix)]
    assert found
    assert {key.effect for key in found} == {PROMISE}


@pytest.mark.parametrize(
    "assignment",
    [
        "listener.name.sasl_ssl.gssapi.sasl.jaas.config=x",
        "listener.name.sasl_ssl.sasl.jaas.config=x",
        "listener.name.sasl_ssl.sasl.login.class=x",
        "listener.name.inside.ssl.engine.factory.class=some.Factory",
        "listener.name.inside.max.connections.per.ip=5",
    ],
)
def test_names_that_are_not_declared_one_by_one(assignment: str) -> None:
    assert assignment.partition("=")[0] in refusal(assignment)


def test_what_is_said() -> None:
    assert refusal("sasl.kerberos.service.name=kafka") == (
        "--set: sasl.kerberos.service.name=kafka: Kerberos is not served here; "
        "remove it to start without"
    )
    assert "No Java class is loaded here" in refusal("create.topic.policy.class.name=my.Policy")


def test_secrets_are_not_repeated() -> None:
    assert "hush" not in refusal("sasl.jaas.config=hush")


def test_the_line_of_the_file_is_named_and_the_command_line_may_take_it_back(
    tmp_path: Path,
) -> None:
    file = tmp_path / "server.properties"
    file.write_text("num.partitions=1\nssl.keymanager.algorithm=PKIX\n")
    assert refusal(path=file).startswith(f"{file}:2: ssl.keymanager.algorithm=PKIX: ")
    config = BrokerConfig.load(file, ["ssl.keymanager.algorithm=SunX509"])
    assert config.get("ssl.keymanager.algorithm") == "SunX509"


def test_settings_that_contradict_each_other_name_their_line(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("\nlog.retention.hours=0\n")
    assert refusal(path=file) == (
        f"{file}:2: log.retention.hours=0: log.retention.ms must be unlimited (-1) or, greater "
        "than or equal to 1"
    )


def test_only_what_takes_nothing_away_is_accepted_without_effect() -> None:
    """Switches that are off by default, and lists of classes, are looked at one by one."""
    accepted = {
        name
        for name, key in BROKER_KEYS.items()
        if key.effect == "unread" and (key.type == LIST or "class" in name)
    }
    assert accepted == {
        "group.share.assignors",
        "remote.log.metadata.manager.class.name",
        "remote.log.metadata.manager.class.path",
        "remote.log.storage.manager.class.name",
        "remote.log.storage.manager.class.path",
    }
    switches = {
        name for name, key in BROKER_KEYS.items() if key.effect == "unread" and key.type == BOOLEAN
    }
    assert switches == {
        "follower.fetch.last.tiered.offset.enable",
        "log.preallocate",
    }
