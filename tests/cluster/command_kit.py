"""Commands of an operator, as processes of their own: some are killed in the middle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from penstock.testing.cluster import Cluster


def begin(nodes: Cluster, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "penstock.cli.main", *words],
        env=os.environ | {"PENSTOCK_BOOTSTRAP_SERVERS": nodes.bootstrap_servers},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(nodes: Cluster, *words: str) -> Any:
    """What it printed with `--json`."""
    started = begin(nodes, *words, "--json")
    out, err = started.communicate(timeout=120)
    assert started.returncode == 0, err
    return json.loads(out)
