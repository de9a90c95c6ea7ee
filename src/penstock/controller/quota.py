"""AlterClientQuotas: quotas that a log brought along can be taken away.

None is applied here yet, so that none can be set: who asks for one is told so.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.controller.config import ControllerContext
from penstock.controller.outcome import Outcome, conclude
from penstock.metadata.quota_filter import ENTITY_TYPES
from penstock.metadata.record import MetadataRecord
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    OpData,
    RequestEntryData,
    ResponseEntityData,
    ResponseEntryData,
)
from penstock.protocol.messages.records.client_quota_record import ClientQuotaRecord, EntityData

_IP_KEYS = frozenset({"connection_creation_rate"})
_CLIENT_KEYS = frozenset(
    {
        "producer_byte_rate",
        "consumer_byte_rate",
        "request_percentage",
        "controller_mutation_rate",
    }
)


def decide_alter_quotas(
    context: ControllerContext, request: AlterClientQuotasRequest
) -> Outcome[AlterClientQuotasResponse]:
    """An entity that is refused keeps what it had; the others change."""
    records: list[MetadataRecord] = []
    results: list[ResponseEntryData] = []
    for entry in request.entries:
        result = ResponseEntryData(
            error_message=None,
            entity=[
                ResponseEntityData(entity_type=part.entity_type, entity_name=part.entity_name)
                for part in entry.entity
            ],
        )
        try:
            records += _removals(context, entry)
        except ApiError as error:
            result.error_code, result.error_message = error.code, error.message
        results.append(result)
    response = AlterClientQuotasResponse(entries=results)
    return conclude(context.config, [] if request.validate_only else records, response)


def _removals(context: ControllerContext, entry: RequestEntryData) -> list[MetadataRecord]:
    keys = _keys_of(entry)
    for op in entry.ops:
        _check(op, keys)
    return list(_records(context, entry))


def _records(context: ControllerContext, entry: RequestEntryData) -> Iterator[MetadataRecord]:
    entity = frozenset((part.entity_type, part.entity_name) for part in entry.entity)
    for op in entry.ops:
        if (entity, op.key) in context.image.security.quotas:
            yield ClientQuotaRecord(
                entity=[
                    EntityData(entity_type=part.entity_type, entity_name=part.entity_name)
                    for part in entry.entity
                ],
                key=op.key,
                remove=True,
            )


def _keys_of(entry: RequestEntryData) -> frozenset[str]:
    kinds = [part.entity_type for part in entry.entity]
    if not kinds:
        raise _invalid("Invalid empty client quota entity")
    for kind in kinds:
        if kind not in ENTITY_TYPES:
            raise _invalid(f"Unhandled client quota entity type: {kind}")
        if kinds.count(kind) > 1:
            raise _invalid(f"Duplicate client quota entity type: {kind}")
    if "ip" not in kinds:
        return _CLIENT_KEYS
    if len(kinds) > 1:
        raise _invalid("Invalid quota entity combination, IP entity should not be used with others")
    return _IP_KEYS


def _check(op: OpData, keys: frozenset[str]) -> None:
    if op.key not in keys:
        raise _invalid(f"Invalid configuration key {op.key}")
    if op.remove:
        return
    if op.value <= 0:
        raise _invalid(f"Quota {op.key} must be greater than 0")
    raise ApiError(
        ErrorCode.UNSUPPORTED_VERSION,
        "Client quotas are not applied by this broker: none can be set",
    )


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
