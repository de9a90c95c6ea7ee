"""Records Penstock keeps for others: quotas, access rules, credentials, tokens, controllers.

A log written elsewhere may hold them. They are replayed and written into snapshots like any other,
so that nothing is lost when the log behind a snapshot goes; no rule is applied here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.metadata.acl import AclImage
from penstock.metadata.record import MetadataRecord

if TYPE_CHECKING:
    from penstock.protocol.messages.records.access_control_entry_record import (
        AccessControlEntryRecord,
    )
    from penstock.protocol.messages.records.client_quota_record import ClientQuotaRecord
    from penstock.protocol.messages.records.delegation_token_record import DelegationTokenRecord
    from penstock.protocol.messages.records.remove_access_control_entry_record import (
        RemoveAccessControlEntryRecord,
    )
    from penstock.protocol.messages.records.remove_delegation_token_record import (
        RemoveDelegationTokenRecord,
    )
    from penstock.protocol.messages.records.remove_user_scram_credential_record import (
        RemoveUserScramCredentialRecord,
    )
    from penstock.protocol.messages.records.user_scram_credential_record import (
        UserScramCredentialRecord,
    )

QuotaEntity = frozenset[tuple[str, str | None]]


class SecurityImage:
    __slots__ = ("acls", "quotas", "scram_credentials", "tokens")

    def __init__(self) -> None:
        self.acls = AclImage()
        self.quotas: dict[tuple[QuotaEntity, str], ClientQuotaRecord] = {}
        self.scram_credentials: dict[tuple[str, int], UserScramCredentialRecord] = {}
        self.tokens: dict[str, DelegationTokenRecord] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SecurityImage) and all(
            getattr(self, name) == getattr(other, name) for name in self.__slots__
        )

    __hash__ = None  # type: ignore[assignment]

    def replace(self, other: SecurityImage) -> None:
        """Hold what the other holds, in containers of its own."""
        self.acls.replace(other.acls.by_id)
        for name in ("quotas", "scram_credentials", "tokens"):
            setattr(self, name, dict(getattr(other, name)))

    def put_quota(self, record: ClientQuotaRecord) -> None:
        entity = frozenset((part.entity_type, part.entity_name) for part in record.entity)
        key = (entity, record.key)
        if record.remove:
            self.quotas.pop(key, None)
        else:
            self.quotas[key] = record

    def put_scram(self, record: UserScramCredentialRecord) -> None:
        self.scram_credentials[record.name, record.mechanism] = record

    def drop_scram(self, record: RemoveUserScramCredentialRecord) -> None:
        self.scram_credentials.pop((record.name, record.mechanism), None)

    def put_acl(self, record: AccessControlEntryRecord) -> None:
        self.acls.put(record)

    def drop_acl(self, record: RemoveAccessControlEntryRecord) -> None:
        self.acls.drop(record.id)

    def put_token(self, record: DelegationTokenRecord) -> None:
        self.tokens[record.token_id] = record

    def drop_token(self, record: RemoveDelegationTokenRecord) -> None:
        self.tokens.pop(record.token_id, None)

    def records(self) -> list[MetadataRecord]:
        return [
            *self.quotas.values(),
            *self.scram_credentials.values(),
            *self.acls.records(),
            *self.tokens.values(),
        ]
