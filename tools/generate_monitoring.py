"""Writes deploy/prometheus and deploy/grafana from the metrics that a broker declares.

python -m tools.generate_monitoring
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from penstock.cli.monitoring.alarm import rules_text
from penstock.cli.monitoring.dashboard import dashboard_text
from penstock.cli.monitoring.family import Family, declared, read_page

DEPLOY = Path(__file__).resolve().parent.parent / "deploy"
RULES = DEPLOY / "prometheus" / "penstock.rules.yml"
DASHBOARD = DEPLOY / "grafana" / "penstock.json"
_READY_S = 60.0


def main() -> int:
    families = read_families()
    for path, text in files(families).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    print(f"{len(families)} metrics: {RULES.name}, {DASHBOARD.name}")
    return 0


def files(families: list[Family]) -> dict[Path, str]:
    return {
        RULES: rules_text(each.name for each in families),
        DASHBOARD: dashboard_text(families),
    }


def read_families() -> list[Family]:
    """Of a node that runs for as long as this takes."""
    with tempfile.TemporaryDirectory(prefix="monitoring-") as folder:
        ready = Path(folder) / "ready"
        options = ["--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--log-level", "error"]
        places = ["--data-dir", f"{folder}/data", "--ready-file", str(ready)]
        broker = subprocess.Popen([sys.executable, "-m", "penstock", "start", *options, *places])
        try:
            deadline_s = time.monotonic() + _READY_S
            while not ready.exists() or not ready.read_text().endswith("\n"):
                if broker.poll() is not None or time.monotonic() > deadline_s:
                    raise SystemExit("the broker did not start")
                time.sleep(0.05)
            return declared(read_page(json.loads(ready.read_text())["metrics"]))
        finally:
            broker.terminate()
            broker.wait()


if __name__ == "__main__":
    raise SystemExit(main())
