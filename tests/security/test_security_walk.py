"""The walk of docs/security.md, command by command: three nodes, TLS alone, two teams."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer

from penstock.testing.port import HOST, free_port
from tests.security.tls_kit import PATIENCE_S
from tests.unit.cli.conftest import PENSTOCK

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
NODES = 3
LOAD = 1500
PORTS = {"SSL": 9092, "CONTROLLER": 9192, "LOGIN": 9292}


def commands() -> list[str]:
    blocks = re.findall(r"^```sh walk\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    return [line for block in blocks for line in block.splitlines()]


def patient(line: str) -> str:
    """A command waits for ten seconds, and a machine that runs tests is a slow one."""
    return line.replace("penstock --profile", f"penstock --timeout {PATIENCE_S:.0f} --profile")


class Walk:
    """In a folder of its own, on ports that are free."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ports = {
            str(first + number): str(free_port())
            for first in PORTS.values()
            for number in range(NODES)
        }
        self._env = os.environ | {
            "XDG_CONFIG_HOME": str(folder),
            "PATH": f"{Path(PENSTOCK).parent}:{os.environ['PATH']}",
        }
        self._started: list[subprocess.Popen[bytes]] = []

    @property
    def logins(self) -> str:
        """Where users with a password are let in."""
        return ",".join(
            f"{HOST}:{self._ports[str(PORTS['LOGIN'] + number)]}" for number in range(NODES)
        )

    def placed(self, text: str) -> str:
        return re.sub(r"(?<=127\.0\.0\.1:)(9[0-9]{3})", lambda found: self._ports[found[1]], text)

    def step(self, line: str) -> str:
        if line.startswith("pip install"):
            return ""
        if line.endswith("&"):
            self._start(line.removesuffix("&").split())
            return ""
        done = subprocess.run(
            ["bash", "-c", self.placed(patient(line))],
            cwd=self._folder,
            env=self._env,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        if " security init " in line:
            self._place_settings()
        return done.stdout

    def _place_settings(self) -> None:
        for file in self._folder.glob("secure/node-*.properties"):
            file.write_text(self.placed(file.read_text()))

    def _start(self, words: list[str]) -> None:
        with (self._folder / f"log-{len(self._started)}").open("wb") as log:
            self._started.append(
                subprocess.Popen(words, cwd=self._folder, env=self._env, stdout=log, stderr=log)
            )
        if len(self._started) == NODES:
            self._wait_up()

    def _wait_up(self) -> None:
        until = time.monotonic() + PATIENCE_S
        for number in range(NODES):
            while not self._answers(int(self._ports[str(PORTS["LOGIN"] + number)])):
                log = self._folder / f"log-{number}"
                assert time.monotonic() < until, log.read_text()
                time.sleep(0.1)

    def _answers(self, port: int) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((HOST, port)) == 0

    def lose(self, number: int) -> None:
        self._started[number].send_signal(signal.SIGKILL)
        self._started[number].wait()

    def bring_back(self, number: int) -> None:
        words = self._started[number].args
        assert isinstance(words, list)
        self._start(words)

    def end(self) -> None:
        for process in self._started:
            process.send_signal(signal.SIGKILL)
            process.wait()


@contextmanager
def walking(folder: Path) -> Iterator[Walk]:
    walk = Walk(folder)
    try:
        yield walk
    finally:
        walk.end()


@pytest.mark.timeout(600)
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_every_command_of_the_walk(tmp_path: Path) -> None:
    with walking(tmp_path) as walk:
        said = {line: walk.step(line) for line in commands()}
        (refused,) = [said[line] for line in said if "|| echo refused" in line]
        assert refused.strip().endswith("refused, as it should be")
        (listed,) = [said[line] for line in said if line.endswith("tenants list")]
        assert "3 of 20" in listed and "0 of 10" in listed
        (explained,) = [said[line] for line in said if "acls explain" in line]
        assert explained.startswith("allowed: User:pay to WRITE topic payments.events")
        (quotas,) = [said[line] for line in said if line.endswith("quotas list")]
        assert "user pay" in quotas and "20971520" in quotas
        audit = "penstock --profile admin audit --principal pay --json"
        until = time.monotonic() + PATIENCE_S
        while not any(
            (line := json.loads(each))["outcome"] == "refused"
            and line["resource"] == "orders.events"
            for each in walk.step(audit).splitlines()
        ):
            assert time.monotonic() < until, "the refusal is not on record"
        under_load(walk, tmp_path / "secure" / "ca.crt")


def under_load(walk: Walk, authority: Path) -> None:
    """A node is killed among records, and comes back: each arrives, and arrives once."""
    pay = {
        "bootstrap.servers": walk.logins,
        "security.protocol": "sasl_ssl",
        "ssl.ca.location": str(authority),
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "pay",
        "sasl.password": "first-secret",
        "log_level": "0",
    }
    failures: list[object] = []
    producer = Producer(pay | {"enable.idempotence": "true", "linger.ms": "1"})

    def told(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failures.append(error)

    for number in range(LOAD):
        if number == LOAD // 3:
            walk.lose(1)
        if number == 2 * LOAD // 3:
            walk.bring_back(1)
        producer.produce("payments.load", b"%d" % number, on_delivery=told)
        producer.poll(0.002)
    assert producer.flush(2 * PATIENCE_S) == 0 and failures == []
    reader = pay | {"group.id": "payments.load", "auto.offset.reset": "earliest"}
    with closing(Consumer(reader)) as consumer:
        consumer.subscribe(["payments.load"])
        seen: list[int] = []
        while len(seen) < LOAD:
            message = consumer.poll(2 * PATIENCE_S)
            assert message is not None and message.error() is None
            seen.append(int(message.value()))
    assert sorted(seen) == list(range(LOAD))
