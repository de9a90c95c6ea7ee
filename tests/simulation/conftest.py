"""Which seeds are run: a few dozen by default, and as many as one likes with `make simulate`."""

from __future__ import annotations

import os

import pytest

SEEDS_DEFAULT = {"seed": "1-24", "cluster_seed": "1-8"}
"""Those of a cluster take longer."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for name, default in SEEDS_DEFAULT.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, seeds(os.environ.get("SEEDS") or default))


def seeds(text: str) -> list[int]:
    """`7`, `1-24`, `3,5,9-12`."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found
