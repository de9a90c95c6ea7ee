"""Values that settings take from files, directories and the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.settings.config import BrokerConfig
from penstock.settings.describe import describe_broker
from penstock.settings.error import SettingError

PACKAGE = "org.apache.kafka.common.config.provider."
FILE = ("config.providers=f", f"config.providers.f.class={PACKAGE}FileConfigProvider")
DIRECTORY = ("config.providers=d", f"config.providers.d.class={PACKAGE}DirectoryConfigProvider")
VARIABLE = ("config.providers=env", f"config.providers.env.class={PACKAGE}EnvVarConfigProvider")


def load(*assignments: str) -> BrokerConfig:
    return BrokerConfig.load(None, assignments)


def refusal(*assignments: str) -> str:
    with pytest.raises(SettingError) as caught:
        load(*assignments)
    return str(caught.value)


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    file = tmp_path / "secrets.properties"
    file.write_text("rack = r1\npartitions: 7\n")
    return file


def test_lines_of_a_file(secrets: Path) -> None:
    config = load(
        *FILE, f"broker.rack=${{f:{secrets}:rack}}", f"num.partitions=${{f:{secrets}:partitions}}"
    )
    assert config.get("broker.rack") == "r1"
    assert config.get("num.partitions") == 7


def test_several_in_one_value_and_text_around_them(secrets: Path) -> None:
    config = load(*FILE, f"broker.rack=a-${{f:{secrets}:rack}}-${{f:{secrets}:partitions}}-b")
    assert config.get("broker.rack") == "a-r1-7-b"


def test_a_whole_file_of_a_directory(tmp_path: Path) -> None:
    (tmp_path / "rack").write_text("north")
    assert load(*DIRECTORY, f"broker.rack=${{d:{tmp_path}:rack}}").rack == "north"


def test_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACK_NAME", "south")
    assert load(*VARIABLE, "broker.rack=${env:RACK_NAME}").rack == "south"


def test_the_providers_may_be_said_behind_what_refers_to_them(secrets: Path) -> None:
    assert load(f"broker.rack=${{f:{secrets}:rack}}", *FILE).rack == "r1"


def test_a_name_that_is_no_providers_is_left_as_it_is() -> None:
    assert load(*VARIABLE, "broker.rack=${other:x}").rack == "${other:x}"
    assert load("broker.rack=${env:x}").rack == "${env:x}"


def test_what_was_filled_in_is_checked_like_any_value(secrets: Path) -> None:
    assert refusal(*FILE, f"num.partitions=${{f:{secrets}:rack}}").startswith("--set: ")


def test_references_to_nothing_are_refused_with_the_place(
    tmp_path: Path, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOT_THERE", raising=False)
    assert refusal(*VARIABLE, "broker.rack=${env:NOT_THERE}") == (
        "--set: broker.rack=${env:NOT_THERE}: the environment has no NOT_THERE"
    )
    assert "the file has no line x=" in refusal(*FILE, f"broker.rack=${{f:{secrets}:x}}")
    assert "No such file" in refusal(*FILE, f"broker.rack=${{f:{tmp_path}/none:x}}")
    assert "no name of a file" in refusal(*DIRECTORY, f"broker.rack=${{d:{tmp_path}:../x}}")


def test_only_allowed_paths_and_variables(
    tmp_path: Path, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = f"config.providers.f.param.allowed.paths={tmp_path}"
    assert load(*FILE, inside, f"broker.rack=${{f:{secrets}:rack}}").rack == "r1"
    elsewhere = f"config.providers.f.param.allowed.paths={tmp_path}/deeper"
    for path in (secrets, f"{tmp_path}/deeper/../{secrets.name}"):
        assert "allowed.paths" in refusal(*FILE, elsewhere, f"broker.rack=${{f:{path}:rack}}")
    monkeypatch.setenv("OTHER", "x")
    pattern = "config.providers.env.param.allowlist.pattern=RACK_.*"
    assert "does not allow OTHER" in refusal(*VARIABLE, pattern, "broker.rack=${env:OTHER}")


def test_providers_that_are_not_there() -> None:
    assert load("config.providers=f").get("config.providers") == ["f"]
    said = refusal("config.providers=f", "broker.rack=${f:x}")
    assert said == "--set: broker.rack=${f:x}: config.providers.f.class is not set"
    said = refusal("config.providers=f", "config.providers.f.class=some.Provider")
    assert "no such provider here" in said and f"{PACKAGE}FileConfigProvider" in said


def test_what_providers_were_told_is_not_shown() -> None:
    shown = {entry.name: entry for entry in describe_broker(load(*VARIABLE))}
    assert shown["config.providers.env.class"].value is None
    assert shown["config.providers"].value == "env"
