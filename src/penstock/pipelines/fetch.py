"""Two ways to get a set of jars into a folder: the user's Maven, or the Ivy that Spark brings.

Both are given the exact list and told to bring nothing else. Neither checks what arrives.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from penstock.pipelines.error import SetupError
from penstock.pipelines.java import require_java
from penstock.pipelines.progress_line import ProgressLine
from penstock.pipelines.version import JarSet

_POM = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>penstock</groupId>
  <artifactId>connectors</artifactId>
  <version>1</version>
  <dependencies>
{}
  </dependencies>
</project>
"""
_POM_LINE = (
    "    <dependency><groupId>{jar.group}</groupId><artifactId>{jar.artifact}</artifactId>"
    "<version>{jar.version}</version><exclusions><exclusion><groupId>*</groupId>"
    "<artifactId>*</artifactId></exclusion></exclusions></dependency>"
)
# One resolver only, Ivy's own idea of Maven Central: Spark's default chain asks the local Maven
# repository too, and fails on an entry there that has a pom and no jar.
_IVY_SETTINGS = """<ivysettings>
  <settings defaultResolver="central"/>
  <caches defaultCacheDir="{cache}"/>
  <resolvers><ibiblio name="central" m2compatible="true"/></resolvers>
</ivysettings>
"""
_IVY_MODULE = """<ivy-module version="2.0">
  <info organisation="penstock" module="connectors"/>
  <dependencies>
{}
  </dependencies>
</ivy-module>
"""
_IVY_LINE = (
    '    <dependency org="{jar.group}" name="{jar.artifact}" rev="{jar.version}"'
    ' transitive="false" conf="default->master"/>'
)


def fetch_with_maven(jar_set: JarSet, folder: Path, progress: ProgressLine) -> None:
    pom = folder.with_name("pom.xml")
    lines = "\n".join(_POM_LINE.format(jar=jar) for jar in jar_set.jars)
    pom.write_text(_POM.format(lines))
    goal = ["dependency:copy-dependencies", f"-DoutputDirectory={folder}"]
    _run(["mvn", "-B", "-f", str(pom), *goal], "Maven", "~/.m2/settings.xml", progress)


def fetch_with_ivy(jar_set: JarSet, folder: Path, progress: ProgressLine) -> None:
    cache, settings, module = (folder.with_name(name) for name in ("ivy", "settings.xml", "m.xml"))
    settings.write_text(_IVY_SETTINGS.format(cache=cache))
    lines = "\n".join(_IVY_LINE.format(jar=jar) for jar in jar_set.jars)
    module.write_text(_IVY_MODULE.format(lines))
    pattern = f"{folder}/[artifact]-[revision].[ext]"
    command = [require_java(), f"-Divy.home={cache}", "-cp", str(_ivy_jar())]
    command += ["org.apache.ivy.Main", "-settings", str(settings), "-ivy", str(module)]
    _run([*command, "-retrieve", pattern], "Ivy", "the -D proxy options of Java", progress)


def _ivy_jar() -> Path:
    import pyspark

    found = sorted(Path(pyspark.__file__).parent.glob("jars/ivy-*.jar"))
    if not found:
        raise SetupError("Spark brings no Ivy here: install Apache Maven to get the connectors")
    return found[-1]


def _run(command: Sequence[str], tool: str, settings: str, progress: ProgressLine) -> None:
    """Run to the end, showing each file that is fetched; on failure say its first complaint."""
    said: list[str] = []
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=os.environ,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line.strip())
            file = re.search(r"ownloading.*/([^/\s]+\.jar)", line)
            if file:
                progress.show(file.group(1))
    if process.returncode != 0:
        raise SetupError(explain(tool, settings, said))


def explain(tool: str, settings: str, said: Sequence[str]) -> str:
    text = "\n".join(said)
    if "No space left on device" in text:
        return f"{tool} found no space left on the disk for the connectors: make room and try again"
    complaint = next(
        (line for line in said if re.search(r"ERROR|not found|FAILED|rror:", line)), ""
    )
    why = re.sub(r"^\[ERROR\]\s*", "", complaint)[:300] or "it gave no reason"
    return (
        f"{tool} could not get the connectors ({why}): look at the network connection"
        f" and at {settings}, then try again; it is needed once"
    )
