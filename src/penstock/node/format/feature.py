"""With which features a new cluster begins: those of a release, changed by what was asked for.

Features that are not served here stay off unless somebody asks for them by name: a cluster that has
them on lets in only nodes that say they serve them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.metadata.release import (
    FEATURE_LEVEL_MAX,
    KRAFT_VERSION,
    NEEDED_LEVEL,
    RELEASES,
    feature_default,
    level_of_release,
)
from penstock.metadata.version import METADATA_LEVEL, METADATA_VERSION
from penstock.node.format.error import FormatError


def parse_features(texts: Iterable[str]) -> dict[str, int]:
    """Of `NAME=LEVEL`; the last of a name counts."""
    found = {}
    for text in texts:
        name, equals, level = (part.strip() for part in text.partition("="))
        if not equals or not (level.isascii() and level.isdecimal()) or len(level) > 5:
            raise FormatError(f"--feature {text}: expected NAME=LEVEL, such as group.version=1")
        found[name] = int(level)
    return found


def feature_levels(
    asked: Mapping[str, int], release: str | None, *, dynamic: bool
) -> dict[str, int]:
    """Of every feature. `dynamic` says that the metadata log names the voters, not the settings."""
    metadata_level = _metadata_level(asked, release)
    levels = {METADATA_VERSION: metadata_level}
    for name in FEATURE_LEVEL_MAX:
        if name == KRAFT_VERSION:
            levels[name] = int(dynamic)
        else:
            levels[name] = feature_default(name, metadata_level)
    for name, level in asked.items():
        if name != METADATA_VERSION:
            _check(name, level, metadata_level, dynamic=dynamic)
            levels[name] = level
    return levels


def _metadata_level(asked: Mapping[str, int], release: str | None) -> int:
    if release is None:
        level = asked.get(METADATA_VERSION, METADATA_LEVEL)
        if level not in RELEASES:
            low, high = min(RELEASES), max(RELEASES)
            raise FormatError(
                f"--feature {METADATA_VERSION}={level}: levels {low} ({RELEASES[low]}) to {high} "
                f"({RELEASES[high]}) are known here; choose one of them"
            )
        return level
    if METADATA_VERSION in asked:
        raise FormatError(
            f"--release-version and --feature {METADATA_VERSION} say the same thing: keep "
            "--release-version"
        )
    found = level_of_release(release)
    if found is None:
        raise FormatError(
            f"--release-version {release}: known here are {', '.join(RELEASES.values())}"
        )
    return found


def _check(name: str, level: int, metadata_level: int, *, dynamic: bool) -> None:
    highest = FEATURE_LEVEL_MAX.get(name)
    if highest is None:
        raise FormatError(
            f"--feature {name}: there is no such feature; there are {', '.join(FEATURE_LEVEL_MAX)}"
        )
    if level > highest:
        raise FormatError(f"--feature {name}={level}: its levels are 0 to {highest}")
    if name == KRAFT_VERSION and level != int(dynamic):
        raise FormatError(
            f"--feature {name}={level}: it is 1 with --standalone, --initial-controllers or "
            "--no-initial-controllers, and 0 with controller.quorum.voters; remove the option"
        )
    needed = NEEDED_LEVEL.get(name, 0)
    if level and metadata_level < needed:
        raise FormatError(
            f"--feature {name}={level} needs {METADATA_VERSION} {needed} ({RELEASES[needed]}) or "
            f"newer, not {metadata_level} ({RELEASES[metadata_level]})"
        )
