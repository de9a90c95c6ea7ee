"""What is declared of a setting's effect, against the source: each one that is said to be read is
read somewhere, and none of the others is.

A setting is read by its name as a string outside of the declarations, through a property of
BrokerConfig that something uses, or as a field of TopicConfig.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from penstock.settings.broker import BROKER_KEYS, DYNAMIC_ONLY_KEYS, HIDDEN_KEYS
from penstock.settings.group import GROUP_KEYS
from penstock.settings.key import AT_START, READ, Key
from penstock.settings.synonym import BROKER_TO_TOPIC
from penstock.settings.topic import TOPIC_KEYS

SOURCE = Path(__file__).resolve().parents[3] / "src" / "penstock"
CLIENTS = ("cli", "client", "pipelines", "testing")
"""They talk to any broker, and read no settings of this one."""

BY_ANOTHER_NAME = {
    "compression.gzip.level": "compression_{}_level",
    "compression.lz4.level": "compression_{}_level",
    "compression.zstd.level": "compression_{}_level",
    "log.dir": "log_dirs",
    "internal.segment.bytes": "segment_bytes",
}
"""Read through a name that is put together, or together with another setting."""


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        inside = path.relative_to(SOURCE)
        if inside.parts[0] not in (*CLIENTS, "settings") and "messages" not in inside.parts:
            yield path, ast.parse(path.read_text())


@cache
def strings_and_fields() -> tuple[frozenset[str], frozenset[str]]:
    """Whole strings, those inside of f-strings put together with {}, and names after a dot."""
    strings, fields = set(), set()
    for _, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                strings.add(node.value)
            elif isinstance(node, ast.Attribute):
                fields.add(node.attr)
            elif isinstance(node, ast.JoinedStr):
                fields.add(
                    "".join(
                        str(part.value) if isinstance(part, ast.Constant) else "{}"
                        for part in node.values
                    )
                )
    return frozenset(strings), frozenset(fields)


@cache
def properties() -> dict[str, set[str]]:
    """Which settings each property of BrokerConfig looks up."""
    tree = ast.parse((SOURCE / "settings" / "config.py").read_text())
    (config,) = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "BrokerConfig"]
    return {
        method.name: {
            node.value
            for node in ast.walk(method)
            if isinstance(node, ast.Constant) and node.value in BROKER_KEYS
        }
        for method in config.body
        if isinstance(method, ast.FunctionDef)
    }


def is_read(name: str) -> bool:
    strings, fields = strings_and_fields()
    topic = BROKER_TO_TOPIC.get(name, name)
    return (
        (name in strings and name not in SET_ON_INTERNAL_TOPICS)
        or name in READ_WITH_THE_SETTINGS
        or (topic in TOPIC_KEYS and topic.replace(".", "_") in fields)
        or BY_ANOTHER_NAME.get(name) in fields
        or any(name in keys and prop in fields for prop, keys in properties().items())
    )


READ_WITH_THE_SETTINGS = ("config.providers",)
"""While the others are loaded."""

SET_ON_INTERNAL_TOPICS = ("unclean.leader.election.enable",)
"""Named in the source to be written, not to be read."""


@pytest.mark.parametrize(
    "keys",
    [BROKER_KEYS, DYNAMIC_ONLY_KEYS, HIDDEN_KEYS, TOPIC_KEYS, GROUP_KEYS],
    ids=["broker", "dynamic", "hidden", "topic", "group"],
)
def test_a_setting_has_an_effect_where_it_is_read_and_nowhere_else(keys: dict[str, Key]) -> None:
    wrong = {
        name: f"declared {key.effect!r}, read in the source: {is_read(name)}"
        for name, key in keys.items()
        if (key.effect in (READ, AT_START)) != is_read(name)
    }
    assert wrong == {}


def test_every_property_of_the_configuration_is_used() -> None:
    _, fields = strings_and_fields()
    unused = [name for name, keys in properties().items() if keys and name not in fields]
    assert unused == []
