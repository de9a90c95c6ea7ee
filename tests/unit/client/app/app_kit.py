"""What tests of applications share: names, a broker of either kind, calls of it."""

from __future__ import annotations

import re
import uuid
from pathlib import Path

from penstock.testing.client_calls import ClientCalls
from tests.unit.cluster_target import bootstrap_servers

ROOT = Path(__file__).resolve().parents[4]


class Target(ClientCalls):
    """The broker that all tests of a run share."""

    def __init__(self, kind: str) -> None:
        self._servers = bootstrap_servers("kafka" if kind == "kafka" else "penstock")

    @property
    def bootstrap_servers(self) -> str:
        return self._servers


def blocks(page: str, kind: str) -> list[str]:
    """What a page shows in this language."""
    return re.findall(rf"```{kind}\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def new_name() -> str:
    return f"app-{uuid.uuid4().hex[:8]}"
