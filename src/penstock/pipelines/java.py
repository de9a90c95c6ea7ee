"""The Java that Spark will run on: found where Spark looks for it, and new enough.

Nothing here starts Spark or downloads anything.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from penstock.pipelines.error import SetupError
from penstock.pipelines.version import JAVA_MINIMUM

_ADVICE = f"install Java {JAVA_MINIMUM} or newer (a JDK or JRE) and put it on PATH or in JAVA_HOME"


def require_java() -> str:
    """The path of the `java` that Spark's own start script would take."""
    java = _find_java()
    answer = _ask_version(java)
    found = re.search(r'version "(?:1\.)?(\d+)', answer)
    if found is None:
        said = answer.strip().splitlines()
        raise SetupError(f"{java} does not work ({said[0] if said else 'it is silent'}): {_ADVICE}")
    if int(found.group(1)) < JAVA_MINIMUM:
        raise SetupError(f"Java {found.group(1)} ({java}) is too old for Spark: {_ADVICE}")
    return java


def _find_java() -> str:
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home, "bin", "java")
        if not java.is_file():
            raise SetupError(f"JAVA_HOME is {home}, which holds no bin/java: {_ADVICE}")
        return str(java)
    on_path = shutil.which("java")
    if on_path is None:
        raise SetupError(f"no Java found: {_ADVICE}")
    return on_path


def _ask_version(java: str) -> str:
    try:
        answer = subprocess.run(
            [java, "-version"], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return answer.stderr + answer.stdout
