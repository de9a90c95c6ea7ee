"""What the pages show is true: their Python and their commands are run against a real broker.

docs/pipelines.md has a test of its own, beside Spark.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock import client
from penstock.cli.main import main
from penstock.testing.broker import Broker
from tools.tool_host import shared_tool_host

ROOT = Path(__file__).resolve().parents[2]
DEAD = "fraud.dead-letters"
KAFKA_PROGRAMS = (
    "kafka-consumer-groups.sh",
    "kafka-share-groups.sh",
    "kafka-transactions.sh",
    "kafka-configs.sh",
)


def blocks(page: str, kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def commands(page: str, program: str) -> list[list[str]]:
    text = "".join(blocks(page, "sh")).replace("\\\n", " ")
    split = [shlex.split(line, comments=True) for line in text.splitlines()]
    return [words for words in split if words and words[0] == program]


@pytest.fixture
def servers(penstock: Broker, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("PENSTOCK_BOOTSTRAP_SERVERS", penstock.bootstrap_servers)
    yield penstock.bootstrap_servers
    client.close()


def run(code: str, servers: str, **names: Any) -> dict[str, Any]:
    told: dict[str, Any] = names
    exec(code.replace("127.0.0.1:9092", servers), told)
    return told


def penstock_commands(page: str, *start: str) -> int:
    """Run those that start like this; how many they were."""
    found = [words[1:] for words in commands(page, "penstock")]
    chosen = [words for words in found if words[: len(start)] == list(start)]
    for words in chosen:
        assert main(words) == 0, words
    return len(chosen)


def kafka_tools(page: str, servers: str) -> list[str]:
    """What each command with one of Kafka's scripts printed."""
    said = []
    for program in KAFKA_PROGRAMS:
        for words in commands(page, program):
            here = [word.replace("127.0.0.1:9092", servers) for word in words[1:]]
            answer = shared_tool_host().run(program.removesuffix(".sh"), here)
            assert answer.returncode == 0, (words, answer.stdout, answer.stderr)
            said.append(answer.stdout)
    return said


@pytest.mark.java
def test_groups(penstock: Broker, servers: str) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", ["first"])
    (code,) = blocks("docs/groups.md", "python")
    consumer = run(code, servers)["consumer"]
    try:
        message = None
        while message is None:
            message = consumer.poll(1.0)
        assert message.value() == b"first"
        consumer.commit(asynchronous=False)
    finally:
        consumer.close()
    said = kafka_tools("docs/groups.md", servers)
    assert len(said) == 5
    assert any("billing" in one for one in said)


@pytest.mark.java
def test_share_groups(penstock: Broker, servers: str) -> None:
    penstock.create_topic("images")
    (code,) = blocks("docs/share-groups.md", "python")
    told = run(code, servers)
    made: list[bytes] = []

    def make_thumbnail(image: bytes) -> None:
        made.append(image)
        if image == b"broken":
            raise ValueError
        if image == b"busy" and made.count(b"busy") < 2:
            raise TimeoutError

    # It begins at the end: what is sent before it is there is not its.
    while not made:
        penstock.produce("images", ["broken"])
        told["work"](make_thumbnail)
    penstock.produce("images", ["fine", "busy"])
    while made.count(b"busy") < 2:
        assert not any(told["work"](make_thumbnail).values())
    told["consumer"].close()
    assert made.count(b"fine") == 1
    said = kafka_tools("docs/share-groups.md", servers)
    assert len(said) == 7
    assert "thumbnails" in said[0] and "START-OFFSET" in said[1]


@pytest.mark.java
def test_transactions(penstock: Broker, servers: str) -> None:
    penstock.create_topic("orders")
    penstock.create_topic("copied-orders")
    penstock.produce("orders", ["a", "b"])
    (code,) = blocks("docs/transactions.md", "python")
    assert "while True:" in code

    def done() -> bool:
        return len(penstock.read("copied-orders")) >= 2

    told = run(code.replace("while True:", "while not done():"), servers, done=done)
    told["consumer"].close()
    committed = {"isolation.level": "read_committed"}
    copied = penstock.read("copied-orders", count=2, settings=committed)
    assert [one.value for one in copied] == [b"a", b"b"]
    said = kafka_tools("docs/transactions.md", servers)
    assert "copy-1" in said[0]


def test_the_client(penstock: Broker, servers: str, capsys: pytest.CaptureFixture[str]) -> None:
    penstock.create_topic("orders")
    charged: list[Any] = []
    for code in (*blocks("docs/client.md", "python"), blocks("README.md", "python")[0]):
        run(code, servers, charge=charged.append)
    assert charged == [{"total": 9.5}]
    assert capsys.readouterr().out == "0 0\n"
    assert len(penstock.read("orders")) == 2


def test_the_readme(penstock: Broker, servers: str) -> None:
    told = run(blocks("README.md", "python")[2], servers)
    told["test_orders"](penstock)
    text = "".join(blocks("README.md", "sh"))
    assert "git clone" in text
    assert "pip install ." in text
    assert "penstock[spark]" not in (ROOT / "README.md").read_text()


def test_dead_letters(penstock: Broker, servers: str, capsys: pytest.CaptureFixture[str]) -> None:
    penstock.create_topic("payments")
    penstock.create_topic(DEAD)
    headers = {"topic": "payments", "partition": 0, "offset": 0, "error": "PaymentError"}
    penstock.produce(
        DEAD,
        ["one", "two", "three"],
        headers=[(f"penstock.dlq.{key}", str(value).encode()) for key, value in headers.items()],
    )
    assert penstock_commands("docs/dead-letters.md", "dlq") == 8
    assert "sent 1 letter back to payments\nsent 2 letters back" in capsys.readouterr().out
    run(blocks("docs/dead-letters.md", "python")[0], servers)
    assert len(penstock.read("payments")) == 3


def test_rules(penstock: Broker, servers: str) -> None:
    penstock.create_topic("fraud.rules", config={"cleanup.policy": "compact"})
    assert penstock_commands("docs/fraud.md", "fraud", "rules") == 4


def test_histories() -> None:
    (code,) = [one for one in blocks("docs/testing.md", "python") if "check(history)" in one]
    exec(code, {})
