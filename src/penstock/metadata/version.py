"""Which version of a record a cluster writes, by the metadata level it has settled on.

A cluster at an older level is one whose administrator may still go back to older software: what is
written must stay readable there.
"""

from __future__ import annotations

from typing import Final

from penstock.metadata.record import MetadataRecord, RecordKind

METADATA_VERSION: Final = "metadata.version"
METADATA_LEVEL: Final = 30
"""Kafka 4.3-IV0: the newest whose records are written here."""
DIRECTORIES_LEVEL: Final = 17
"""Kafka 3.7-IV2: the first whose partitions name their directories."""
METADATA_LEVEL_MIN: Final = DIRECTORIES_LEVEL

ELIGIBLE_LEADERS_LEVEL: Final = 23
CORDONED_DIRECTORIES_LEVEL: Final = 30

_OLDER: Final[dict[int | None, tuple[tuple[int, int], ...]]] = {
    RecordKind.REGISTER_BROKER: ((CORDONED_DIRECTORIES_LEVEL, 3),),
    RecordKind.BROKER_REGISTRATION_CHANGE: ((CORDONED_DIRECTORIES_LEVEL, 2),),
    RecordKind.PARTITION: ((ELIGIBLE_LEADERS_LEVEL, 1),),
    RecordKind.PARTITION_CHANGE: ((ELIGIBLE_LEADERS_LEVEL, 1),),
}
"""By kind: below this level, this version."""


def record_version(record: MetadataRecord, level: int) -> int:
    for below, version in _OLDER.get(record.API_KEY, ()):
        if level < below:
            return version
    return record.VERSIONS[1]
