"""Other people's programs from Maven, kept in the checkout's cache, for tests on request."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tools.apache_kafka import require_maven

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "maven"
Artifact = tuple[str, str, str]
"""Group, name and version."""
_POM = (
    "<project><modelVersion>4.0.0</modelVersion><groupId>penstock</groupId>"
    "<artifactId>tests</artifactId><version>1</version><dependencies>{}</dependencies>"
    "</project>\n"
)
_DEPENDENCY = (
    "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>"
    "<type>{}</type>{}</dependency>"
)
_EXCLUSION = "<exclusion><groupId>{}</groupId><artifactId>*</artifactId></exclusion>"
ALONE = ("*",)


def fetched(
    name: str, artifacts: Sequence[Artifact], *, kind: str = "jar", without: Sequence[str] = ()
) -> Path:
    """The folder of these files and of all that they need to run, `without` that of some groups."""
    folder = CACHE / name
    left_out = "".join(_EXCLUSION.format(each) for each in without)
    more = f"<exclusions>{left_out}</exclusions>" if left_out else ""
    wanted = _POM.format("".join(_DEPENDENCY.format(*each, kind, more) for each in artifacts))
    pom, done = folder / "pom.xml", folder / "complete"
    if not done.exists() or done.read_text() != wanted:
        folder.mkdir(parents=True, exist_ok=True)
        pom.write_text(wanted)
        goal = ["dependency:copy-dependencies", "-DincludeScope=runtime"]
        place = f"-DoutputDirectory={folder / 'files'}"
        subprocess.run([require_maven(), "-q", "-B", "-f", str(pom), *goal, place], check=True)
        done.write_text(wanted)
    return folder / "files"
