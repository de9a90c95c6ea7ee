"""What a node alone has not loaded while nobody has asked it for anything.

Every module that is loaded stays in memory, twenty kilobytes and more of it; a stray import brings
whole packages in without anybody noticing.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import json, os, signal, sys, threading
from penstock.cli.main import main

def look(ready):
    os.read(ready, 1)
    print(json.dumps(sorted(sys.modules)))
    os.kill(os.getpid(), signal.SIGTERM)

ready, told = os.pipe()
threading.Thread(target=look, args=(ready,)).start()
options = ["--listen", "127.0.0.1:0", "--data-dir", sys.argv[1], "--ready-fd", str(told)]
sys.exit(main(["start", *options]))
"""

LATER = {
    "groups": "penstock.group",
    "transactions": "penstock.transaction",
    "calls to others": "penstock.peer.connection",
    "logins": "penstock.node.logins",
    "TLS": "penstock.node.tls",
    "access control": "penstock.security.authorizer",
    "rules for access control": "penstock.controller.acl",
    "rules for quotas": "penstock.controller.quota",
    "moves of replicas": "penstock.controller.reassignment",
    "audit": "penstock.audit",
    "metrics": "penstock.node.metrics_server",
    "paths": "pathlib",
    "addresses": "ipaddress",
    "dates": "datetime",
    "UUIDs": "uuid",
}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    home = tmp_path_factory.mktemp("light")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(home / "data")],
        cwd=Path(home),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    (listed,) = (line for line in done.stdout.splitlines() if line.startswith("["))
    return set(json.loads(listed))


@pytest.mark.parametrize("name", LATER.values(), ids=LATER)
def test_is_loaded_when_it_is_needed(loaded: set[str], name: str) -> None:
    assert "penstock.node.node" in loaded
    assert name not in loaded
