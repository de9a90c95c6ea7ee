"""Kafka's own command line tools, asked about a cluster, and what they print taken apart."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tools.apache_kafka import run_tool

TIMEOUT_S = 240.0


class KafkaTools:
    def __init__(self, servers: str) -> None:
        self._servers = ("--bootstrap-server", servers)

    def create(self, topic: str, *, partitions: int, replicas: int) -> None:
        count = ("--partitions", str(partitions), "--replication-factor", str(replicas))
        self._run("kafka-topics", "--create", "--topic", topic, *count)

    def produce(self, topic: str, lines: Sequence[str]) -> None:
        acks = ("--command-property", "acks=all")
        text = "".join(line + "\n" for line in lines)
        self._run("kafka-console-producer", "--topic", topic, *acks, stdin=text)

    def consume(self, topic: str, group: str, count: int) -> list[str]:
        asked = ("--topic", topic, "--group", group, "--from-beginning")
        said = self._run("kafka-console-consumer", *asked, "--max-messages", str(count))
        return said.splitlines()

    def lag(self, group: str) -> dict[tuple[str, int], int]:
        said = self._run("kafka-consumer-groups", "--describe", "--group", group)
        rows = (line.split() for line in said.splitlines() if line.startswith(group))
        return {(row[1], int(row[2])): int(row[5]) for row in rows}

    def observers(self) -> set[int]:
        """Who follows the metadata log without a vote."""
        said = self._run("kafka-metadata-quorum", "describe", "--replication")
        rows = (line.split() for line in said.splitlines())
        return {int(row[0]) for row in rows if row and row[-1] == "Observer"}

    def leaders(self, topic: str) -> set[int]:
        said = self._run("kafka-topics", "--describe", "--topic", topic)
        return {int(found) for found in re.findall(r"Leader: (\d+)", said)}

    def _run(self, name: str, *arguments: str, stdin: str | None = None) -> str:
        answer = run_tool(name, [*self._servers, *arguments], stdin=stdin, timeout=TIMEOUT_S)
        assert answer.returncode == 0, f"{name}: {answer.stdout}{answer.stderr}"
        return answer.stdout
