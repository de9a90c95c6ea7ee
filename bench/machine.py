"""The machine and the versions behind the figures."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

import confluent_kafka

from tools.apache_kafka import VERSION, require_java


def describe() -> dict[str, str]:
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        "Java": _first_line([require_java(), "-version"]),
        "Apache Kafka": f"{VERSION}, KRaft, G1, 1 GiB heap, default settings",
        "Penstock": f"{version('penstock')}, commit {_commit()}",
        "librdkafka": str(confluent_kafka.libversion()[0]),
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _commit() -> str:
    return _first_line(["git", "describe", "--always", "--dirty"]) or "unknown"


def _first_line(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    except OSError:
        return ""
    said = (done.stdout or done.stderr).splitlines()
    return said[0].strip() if said and not done.returncode else ""
