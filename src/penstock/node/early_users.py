"""Users before anything is known to be committed.

Controllers that log in to each other elect their leader first, and only a leader can tell what is
committed. Until then, what this node's own log says of users counts, and in an empty cluster what
its directory was formatted with.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.metadata.image import ClusterImage
from penstock.metadata.record import MetadataRecord
from penstock.metadata.security import SecurityImage
from penstock.metadata.version import METADATA_VERSION
from penstock.protocol.messages.records.remove_user_scram_credential_record import (
    RemoveUserScramCredentialRecord,
)
from penstock.protocol.messages.records.user_scram_credential_record import (
    UserScramCredentialRecord,
)
from penstock.quorum.metadata_batch import read_values
from penstock.quorum.metadata_log import MetadataLog
from penstock.quorum.metadata_snapshot import read_bootstrap


class EarlyUsers:
    """Called for the users that there are now."""

    def __init__(self, image: ClusterImage, log: MetadataLog, directory: str) -> None:
        self._image = image
        self._end_offset = log.end_offset
        self._early: SecurityImage | None = None
        if not self._has_caught_up:
            self._early = SecurityImage()
            self._early.replace(image.security)
            self._replay(read_bootstrap(log.log.disk, directory) or ())
            for header, batch in log.batches(image.next_offset, log.end_offset):
                self._replay(record for _, record in read_values(header, batch))

    def __call__(self) -> SecurityImage:
        if self._early is None:
            return self._image.security
        if self._has_caught_up:
            self._early = None
            return self._image.security
        return self._early

    @property
    def _has_caught_up(self) -> bool:
        image = self._image
        return METADATA_VERSION in image.features and image.next_offset >= self._end_offset

    def _replay(self, records: Iterable[MetadataRecord]) -> None:
        assert self._early is not None
        for record in records:
            if isinstance(record, UserScramCredentialRecord):
                self._early.put_scram(record)
            elif isinstance(record, RemoveUserScramCredentialRecord):
                self._early.drop_scram(record)
