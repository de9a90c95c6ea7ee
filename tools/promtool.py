"""Prometheus' own checker: PROMTOOL names one, or it is on the path, or Debian's package has it.

The package is downloaded by apt-get, and the program put into .cache; nothing is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

_PROGRAM = Path(__file__).resolve().parent.parent / ".cache" / "promtool"
_DOWNLOAD_S = 120.0


def promtool() -> str | None:
    found = os.environ.get("PROMTOOL") or shutil.which("promtool")
    if found is None and not _PROGRAM.exists():
        _download()
    return found or (str(_PROGRAM) if _PROGRAM.exists() else None)


def _download() -> None:
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        return
    _PROGRAM.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=_PROGRAM.parent) as folder:
        got = _run(["apt-get", "download", "prometheus"], folder)
        packages = list(Path(folder).glob("*.deb"))
        whole = Path(folder) / "whole"
        if got and packages and _run(["dpkg", "-x", str(packages[0]), str(whole)], folder):
            # In one step: others may be looking for it.
            (whole / "usr" / "bin" / "promtool").replace(_PROGRAM)


def _run(words: list[str], folder: str) -> bool:
    try:
        done = subprocess.run(
            words, cwd=folder, capture_output=True, timeout=_DOWNLOAD_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
