"""File descriptors: how many this process may have, and what they are for.

Connections are what others decide about, so they come last: the files of logs and whatever a node
opens for a moment have theirs set aside.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

SPARE = 64
"""For what is open for a moment: checkpoints, directories being synced, a compaction's process."""
SHARE = 4
"""Where descriptors are few, log files get one of so many."""
FILES_MIN = 16
AS_GOOD_AS_ENDLESS = 1 << 20
"""The most that Linux gives a process unless it was told otherwise."""


class DescriptorPlan(NamedTuple):
    files_max: int
    """Log files that are kept open."""
    connections_below: int
    """A connection with this descriptor, or a higher one, is the last for now."""


def raise_limit() -> None:
    """To what the administrator allows: the soft limit is for programs that cannot count far."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = AS_GOOD_AS_ENDLESS if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError):
            return  # some systems have a lower bound of their own; then the soft limit stays


def limit() -> int:
    if sys.platform == "win32":
        return AS_GOOD_AS_ENDLESS
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return AS_GOOD_AS_ENDLESS if soft == resource.RLIM_INFINITY else soft


def plan(open_files_max: int, descriptors: int) -> DescriptorPlan:
    files = min(open_files_max, max(FILES_MIN, descriptors // SHARE))
    spare = min(SPARE, descriptors // SHARE)
    return DescriptorPlan(files, descriptors - files - spare)
