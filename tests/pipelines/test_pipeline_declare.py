"""Declaring: names, what goes together, and the one line for what does not. No Spark is started."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from penstock.pipelines import decode, keyed, pipeline, sinks, sources
from penstock.pipelines.error import DeclarationError
from penstock.pipelines.run.catalogue import find_pipeline
from penstock.pipelines.run.plan import _accepted, _by_output, output_frames, source_names
from penstock.pipelines.run.runner import Runnable
from penstock.pipelines.run_settings import RunSettings
from penstock.pipelines.security import java_settings

ORDERS = sources.topic("orders", decode=decode.json("id string"))


@pipeline(inputs={"orders": ORDERS}, outputs={"a": sinks.topic("a"), "b": sinks.topic("b")})
def two_ways(orders: Any) -> Any:
    return {"a": orders, "b": orders}


class Streaming:
    isStreaming = True


def test_a_declaration_has_a_name_and_topics_of_its_own() -> None:
    assert isinstance(two_ways, Runnable)
    assert two_ways.name == "two-ways"
    assert (two_ways.dead_letters, two_ways.late) == ("two-ways.dead-letters", "two-ways.late")
    assert two_ways("frame") == {"a": "frame", "b": "frame"}


def test_parameters_are_named_after_inputs() -> None:
    assert _accepted(two_ways, {"orders": 1}) == {"orders": 1}
    with pytest.raises(DeclarationError, match="takes orders, and is given order"):
        _accepted(two_ways, {"order": 1})


def test_outputs_are_those_declared() -> None:
    frame = Streaming()
    made = _by_output(two_ways, {"b": frame, "a": frame})
    assert list(made) == ["a", "b"]
    with pytest.raises(DeclarationError, match="return a frame for each"):
        _by_output(two_ways, frame)
    with pytest.raises(DeclarationError, match="returned a, c"):
        _by_output(two_ways, {"a": frame, "c": frame})
    with pytest.raises(DeclarationError, match="no streaming frame"):
        output_frames(two_ways, {"orders": object()})
    with pytest.raises(DeclarationError, match="p has no output c"):
        pipeline(inputs={}, outputs={}, apart=["c"], name="p")(dict)


@pytest.mark.parametrize("name", ["a.1", "a/b", "@orders", ""])
def test_names_of_outputs_come_to_nothing_that_another_is_named(name: str) -> None:
    said = "a name has no dots or slashes, and no @ in front"
    with pytest.raises(DeclarationError, match=said):
        pipeline(inputs={}, outputs={name: sinks.topic("t")}, name="p")(dict)
    with pytest.raises(DeclarationError, match=said):
        keyed(source=ORDERS, outputs={name: "t"}, name="p")(lambda *_: (None, ()))


def test_sources_are_told_by_their_topics() -> None:
    told = [{"b": {"0": 1}}, {"x1": {}, "x2": {}}, {"c": {}, "a": {}}, {"b": {"0": 1}}, {"b": {}}]

    @pipeline(
        inputs={
            "one": sources.topic("a", "c"),
            "two": sources.topic("b"),
            "three": sources.topic(pattern="x.*"),
            "four": sources.topic("b"),
        },
        outputs={"out": sinks.topic("out")},
    )
    def many(one: Any, two: Any, three: Any, four: Any) -> Any: ...

    assert source_names(many, told) == ("two", "three", "one", "four", "two")


def test_a_topic_or_a_pattern() -> None:
    with pytest.raises(ValueError, match="or give a pattern"):
        sources.topic()
    with pytest.raises(ValueError, match="or give a pattern"):
        sources.topic("a", pattern="a.*")


def test_pipelines_are_found_by_name(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    text = (
        "from penstock.pipelines import pipeline, sinks, sources\n"
        "@pipeline(inputs={'a': sources.topic('a')}, outputs={'b': sinks.topic('b')})\n"
        "def one(a): return a\n"
    )
    (tmp_path / "found_by_name.py").write_text(text)
    assert find_pipeline(f"{tmp_path}/found_by_name.py:one").name == "one"
    assert find_pipeline(f"{tmp_path}/found_by_name.py").name == "one"
    assert find_pipeline("found_by_name:one").name == "one"
    for name, said in (
        ("nothing", "there is no pipeline nothing: known are fraud, saga-funnel"),
        ("found_by_name:two", "has no pipeline two: it has one"),
        (f"{tmp_path}/absent.py:one", "there is no file"),
        ("absent.module:one", "there is no module absent.module"),
    ):
        with pytest.raises(DeclarationError, match=said):
            find_pipeline(name)


def test_client_settings_are_said_once_for_both_worlds() -> None:
    said = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanisms": "PLAIN",
        "sasl.username": "me",
        "sasl.password": 'a"b',
        "ssl.ca.location": "/ca.pem",
    }
    assert java_settings(said) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required"
        ' username="me" password="a\\"b";',
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": "/ca.pem",
    }
    settings = RunSettings("b:1", kafka=said)
    assert settings.client(group_id="g")["group.id"] == "g"
    assert settings.client()["sasl.username"] == "me"


def test_nothing_imports_spark_before_it_is_needed() -> None:
    code = (
        "import sys, penstock.testing.plugin, penstock.pipelines.testing\n"
        "from penstock.cli.command_table import CommandTable\n"
        "dict(CommandTable({}))\n"
        "from penstock.pipelines import pipeline, sources, sinks, decode\n"
        "decode.json('id string')\n"
        "sys.exit('pyspark' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_failures_are_told_apart_by_what_they_are() -> None:
    from penstock.pipelines.error import TransientError
    from penstock.pipelines.run.failure import is_transient, one_line

    assert is_transient(TransientError("later"))
    assert is_transient(RuntimeError('x KafkaError{code=_TRANSPORT,val=-195,str="gone"} y'))
    assert not is_transient(RuntimeError("KafkaError{code=TOPIC_AUTHORIZATION_FAILED,val=29}"))
    assert not is_transient(ValueError("MAX_RETRY is no number"))
    trace = 'Traceback:\n  File "x.py", line 1\nValueError: not this\n\tat java.lang.Thread'
    assert one_line(RuntimeError(trace)) == "ValueError: not this"
