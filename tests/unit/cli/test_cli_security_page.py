"""docs/security.md: what it says of access control, roles, reviews and tenants, as it says it."""

from __future__ import annotations

import shlex
import time
from dataclasses import replace
from pathlib import Path

from tests.page_kit import sections
from tests.security.sasl_kit import sasl_broker
from tests.unit.cli.conftest import Command

SECTIONS = ("Access control (ACLs)", "Roles", "Less is enough", "Tenants")


def lines_of(section: str) -> list[str]:
    """Commands of ours; Kafka's tools have tests of their own."""
    blocks = [block.text for block in sections("docs/security.md")[section] if block.kind == "sh"]
    lines = [line for text in blocks for line in text.splitlines()]
    return [line for line in lines if line.startswith("penstock ")]


def test_each_command(nowhere: Command, tmp_path: Path) -> None:
    settings = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "penstock.audit.topic.enable": "true",
    }
    with sasl_broker(tmp_path, settings) as broker:
        admin = replace(nowhere, servers=broker.open)
        while admin.try_run("audit").code:
            time.sleep(0.1)  # until the log has its first lines
        said = {}
        for section in SECTIONS:
            assert lines_of(section)
            for line in lines_of(section):
                answer = admin.try_run(*shlex.split(line, comments=True)[1:])
                assert answer.code == 0, (line, answer.err)
                said[line] = answer.lines
        held = admin.run("acls", "explain", "alice", "read", "--topic", "orders").lines
        assert held[0].startswith("allowed: User:alice to READ topic orders"), "by the role"
    explained = said["penstock acls explain bob read --topic orders"]
    assert explained[1] == "by: allow User:bob to READ topic orders from anywhere"
    assert any("unused" in line for line in said["penstock acls review --days 30"])
    assert any("0 of 200" in line for line in said["penstock tenants list"])
