"""The declarations as a whole: complete, consistent, documented, and cheap to load."""

from __future__ import annotations

import sys
from pathlib import Path
from subprocess import run

import pytest

from penstock.settings.broker import BROKER_KEYS, DYNAMIC_ONLY_KEYS, HIDDEN_KEYS, find_broker_key
from penstock.settings.key import CLUSTER_WIDE, PER_BROKER, PROMISE, READ, READ_ONLY, UNREAD, Key
from penstock.settings.resolve import TopicConfig
from penstock.settings.sentence import BROKER_SENTENCES, TOPIC_SENTENCES
from penstock.settings.synonym import BROKER_TO_TOPIC, TOPIC_TO_BROKER
from penstock.settings.topic import TOPIC_KEYS

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("keys", [TOPIC_KEYS, BROKER_KEYS, DYNAMIC_ONLY_KEYS, HIDDEN_KEYS])
def test_defaults_are_valid(keys: dict[str, Key]) -> None:
    for key in keys.values():
        if key.default is not None:
            key.parse(key.default)
        assert key.update_mode in (READ_ONLY, PER_BROKER, CLUSTER_WIDE)


def test_synonyms_are_declared_with_fitting_types_and_defaults() -> None:
    for topic, names in TOPIC_TO_BROKER.items():
        assert BROKER_KEYS[names[0]].type == TOPIC_KEYS[topic].type
        if len(names) == 1:
            assert BROKER_KEYS[names[0]].default == TOPIC_KEYS[topic].default
            assert BROKER_KEYS[names[0]].update_mode == CLUSTER_WIDE
    assert BROKER_TO_TOPIC["log.retention.hours"] == "retention.ms"


def test_a_topic_config_has_a_field_for_every_setting() -> None:
    assert TopicConfig._fields == tuple(name.replace(".", "_") for name in TOPIC_KEYS)


def test_every_setting_is_documented() -> None:
    assert TOPIC_SENTENCES.keys() == TOPIC_KEYS.keys()
    assert BROKER_SENTENCES.keys() <= BROKER_KEYS.keys()
    for key in (*TOPIC_KEYS.values(), *BROKER_KEYS.values()):
        text = key.documentation
        assert text[0].isupper() and text.endswith("."), key
        assert text.endswith("no effect in Penstock.") == (key.effect == UNREAD), key
        assert text.endswith("does not do this yet.") == (key.effect == PROMISE), key


def test_broker_defaults_of_topics_say_so() -> None:
    assert BROKER_KEYS["log.retention.hours"].documentation == (
        "What topics have for retention.ms unless they set it themselves in hours."
    )


def test_open_prefixes() -> None:
    limited = find_broker_key("listener.name.internal.max.connections")
    assert limited is not None and limited.type_name == "INT" and not limited.is_sensitive
    assert limited.effect == READ
    single = find_broker_key("listener.name.internal.socket.request.max.bytes")
    assert single is not None and single.effect == PROMISE
    tuned = find_broker_key("listener.name.internal.num.network.threads")
    assert tuned is not None and tuned.effect == UNREAD
    secret = find_broker_key("listener.name.internal.plain.sasl.jaas.config")
    assert secret is not None and secret.is_sensitive
    assert find_broker_key("rsm.config.bucket") is not None
    assert find_broker_key("listeners.name.x") is None


def test_the_page_is_up_to_date() -> None:
    tool = ROOT / "tools" / "generate_config_docs.py"
    result = run([sys.executable, str(tool), "--check"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_loading_the_settings_loads_nothing_that_is_seldom_needed() -> None:
    code = (
        "import sys, penstock.settings.describe;"
        "print([m for m in ('difflib', 'dataclasses', 'inspect', 'json', 're', 'pathlib',"
        " 'penstock.settings.sentence') if m in sys.modules])"
    )
    result = run([sys.executable, "-S", "-c", code], capture_output=True, text=True,
                 env={"PYTHONPATH": str(ROOT / "src")}, check=True)  # fmt: skip
    assert set(eval(result.stdout)) <= {"re"}  # typing itself needs re
