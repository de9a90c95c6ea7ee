"""What logins of names that nobody has are answered by."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.controller.config import ControllerContext
from penstock.metadata.config import ResourceType
from penstock.metadata.record import MetadataRecord
from penstock.protocol.messages.records.config_record import ConfigRecord
from penstock.protocol.messages.records.user_scram_credential_record import (
    UserScramCredentialRecord,
)

DECOY_SECRET = "penstock.scram.decoy.secret"


def decoy_secret(
    context: ControllerContext, records: Iterable[MetadataRecord]
) -> list[MetadataRecord]:
    """With the first user comes what logins of nobody are answered by, the same on all nodes. Who
    knew it could tell which names are users'."""
    has_users = any(isinstance(one, UserScramCredentialRecord) for one in records)
    if not has_users or DECOY_SECRET in context.image.configs.broker(None):
        return []
    return [
        ConfigRecord(
            resource_type=ResourceType.BROKER,
            resource_name="",
            name=DECOY_SECRET,
            value=context.new_id().hex() + context.new_id().hex(),
        )
    ]
