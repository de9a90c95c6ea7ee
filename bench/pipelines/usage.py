"""Who used the processor: seconds of each part of the system between two looks at Linux's /proc."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.process import cpu_seconds

DRIVER = "Spark driver (Python)"
JVM = "Spark (JVM)"
WORKER = "Python workers"

Usage = dict[str, float]


def tree(root: int) -> set[int]:
    """A process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for pid, parent in _processes():
        children.setdefault(parent, []).append(pid)
    found, open_ends = {root}, [root]
    while open_ends:
        for pid in children.get(open_ends.pop(), ()):
            found.add(pid)
            open_ends.append(pid)
    return found


def look(spark: int | None, others: Mapping[str, int]) -> Usage:
    """Processor seconds so far, by role; a role is a process with everything below it."""
    usage = {role: sum(_seconds(one) for one in tree(pid)) for role, pid in others.items()}
    if spark is not None:
        for pid in tree(spark):
            role = spark_role(pid, spark, _name(pid))
            usage[role] = usage.get(role, 0.0) + _seconds(pid)
    return usage


def memory_mb(spark: int) -> Usage:
    """What Spark holds in memory now, by role."""
    held: Usage = {}
    for pid in tree(spark):
        role = spark_role(pid, spark, _name(pid))
        held[role] = held.get(role, 0.0) + _resident_mb(pid)
    return held


def spark_role(pid: int, root: int, name: str) -> str:
    if name == "java":
        return JVM
    return DRIVER if pid == root else WORKER


def cores(before: Usage, after: Usage, seconds: float) -> Usage:
    """Cores busy on average, by role."""
    return {role: (after[role] - before.get(role, 0.0)) / seconds for role in after}


def _processes() -> Iterator[tuple[int, int]]:
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                fields = (path / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                # It has ended since the folder was listed.
                continue
            yield int(path.name), int(fields[1])


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _resident_mb(pid: int) -> float:
    try:
        said = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    lines = [line for line in said.splitlines() if line.startswith("VmRSS:")]
    return int(lines[0].split()[1]) / 1024 if lines else 0.0


def _seconds(pid: int) -> float:
    try:
        return cpu_seconds(pid)
    except OSError:
        return 0.0
