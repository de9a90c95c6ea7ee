"""Users with a password, made, seen and removed by `penstock users`."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.conformance.clients.record import PATIENCE_SECONDS
from tests.conformance.conftest import Cluster
from tests.patience import wait_until
from tests.unit.cli.conftest import PENSTOCK

pytestmark = pytest.mark.client("penstock users")


def penstock(cluster: Cluster, *words: str, stdin: str = "") -> str:
    done = subprocess.run(
        [PENSTOCK, "-b", cluster.bootstrap_servers, "users", *words],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def listed(cluster: Cluster) -> dict[str, dict[str, int]]:
    found = json.loads(penstock(cluster, "list", "--json"))
    return {each["name"]: each["iterations"] for each in found}


@pytest.mark.feature("Users with a SCRAM password come, change and go")
def test_users(cluster: Cluster) -> None:
    both = {"SCRAM-SHA-256": 8192, "SCRAM-SHA-512": 8192}
    penstock(cluster, "add", "penstock-user", stdin="hush\n")
    wait_until(lambda: listed(cluster).get("penstock-user") == both)
    penstock(cluster, "remove", "penstock-user", "--mechanism", "SCRAM-SHA-256")
    wait_until(lambda: listed(cluster).get("penstock-user") == {"SCRAM-SHA-512": 8192})
    penstock(cluster, "remove", "penstock-user")
    wait_until(lambda: "penstock-user" not in listed(cluster))
