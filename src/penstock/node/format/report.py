"""What `penstock storage info` says of a node's directories, in the words of Kafka's tool."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.node.format.directory import Directory, differing, look
from penstock.storage.disk import Disk

_LEGACY = (
    "The kafka configuration file appears to be for a cluster in KRaft mode, but the directories "
    "are formatted for legacy mode."
)


def describe(disk: Disk, paths: Sequence[str]) -> tuple[list[str], bool]:
    """The lines, and whether all is well."""
    directories = [look(disk, path) for path in sorted(paths)]
    problems = _problems(directories)
    found = [each.path for each in directories if each.is_directory]
    lines = []
    if found:
        lines += ["Found log directory:" if len(found) == 1 else "Found log directories:"]
        lines += [*(f"  {path}" for path in found), ""]
    stored = next((each.properties for each in directories if each.properties), None)
    if stored is not None:
        shown = ", ".join(f"{key}={value}" for key, value in sorted(stored.items()))
        lines += [f"Found metadata: {{{shown}}}", ""]
    if problems:
        lines += ["Found problem:" if len(problems) == 1 else "Found problems:"]
        lines += [*(f"  {each}" for each in problems), ""]
    return lines, not problems


def _problems(directories: Sequence[Directory]) -> list[str]:
    problems = [_problem(each) for each in directories]
    found = [each for each in problems if each is not None]
    if differing(directories, "cluster.id"):
        found.append("Mismatched cluster IDs between storage directories.")
    elif differing(directories, "node.id"):
        found.append("Mismatched node IDs between storage directories.")
    if any(each.properties and each.properties["version"] == "0" for each in directories):
        found.append(_LEGACY)
    return found


def _problem(directory: Directory) -> str | None:
    if directory.problem is not None:
        return directory.problem
    if not directory.exists:
        return f"{directory.path} does not exist"
    return None if directory.is_formatted else f"{directory.path} is not formatted."
