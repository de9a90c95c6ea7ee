"""Nodes without streams groups do not load what serves them."""

from __future__ import annotations

import subprocess
import sys

LIGHT = {"task", "group", "commit"}


def test_only_the_light_part_is_loaded() -> None:
    code = (
        "import sys, penstock.coordinator.group_host;"
        "print(*(one for one in sys.modules if one.startswith('penstock') and 'streams' in one))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    package = "penstock.group.streams"
    assert set(told.stdout.split()) == {package, *(f"{package}.{one}" for one in LIGHT)}
