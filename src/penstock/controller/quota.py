"""AlterClientQuotas: what users, clients and addresses may take of the cluster.

Kept and told; every node holds its own clients to them (`handlers/throttle`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from operator import attrgetter

from penstock.controller.config import ControllerContext
from penstock.controller.outcome import Outcome, conclude
from penstock.metadata.quota_filter import ENTITY_TYPES
from penstock.metadata.record import MetadataRecord
from penstock.metadata.security import QuotaEntity
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

_INT_MAX, _LONG_MAX = 0x7FFFFFFF, 0x7FFFFFFFFFFFFFFF
_TOO_LARGE = {_INT_MAX: "an INT", _LONG_MAX: "a LONG"}
_FRACTION_MIN = 1e-6

_Keys = Mapping[str, int | None]
"""The highest whole number that a key takes, or that it takes fractions."""

_IP_KEYS: _Keys = {"connection_creation_rate": _INT_MAX}
_CLIENT_KEYS: _Keys = {
    "producer_byte_rate": _LONG_MAX,
    "consumer_byte_rate": _LONG_MAX,
    "request_percentage": None,
    "controller_mutation_rate": None,
}
_HOST_NAME = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,253})")


def decide_alter_quotas(
    context: ControllerContext, request: AlterClientQuotasRequest
) -> Outcome[AlterClientQuotasResponse]:
    """An entity that is refused keeps what it had; the others change. Of one that is named again
    only the first entry counts, and its one answer says that there were more."""
    records: list[MetadataRecord] = []
    results: dict[QuotaEntity, ResponseEntryData] = {}
    for entry in request.entries:
        entry.entity = list({part.entity_type: part for part in entry.entity}.values())
        entity = _entity(entry)
        is_again = entity in results
        result = results.setdefault(entity, _result(entry))
        try:
            if is_again:
                raise _invalid("The request names this entity more than once: the first one counts")
            _check(entry)
            records += _records(context, entity, entry)
        except ApiError as error:
            result.error_code, result.error_message = error.code, error.message
    response = AlterClientQuotasResponse(entries=list(results.values()))
    return conclude(context.config, [] if request.validate_only else records, response)


def _entity(entry: RequestEntryData) -> QuotaEntity:
    return frozenset((part.entity_type, part.entity_name) for part in entry.entity)


def _result(entry: RequestEntryData) -> ResponseEntryData:
    """By type, however they were named: clients compare lists with what Apache Kafka answers."""
    return ResponseEntryData(
        error_message=None,
        entity=[
            ResponseEntityData(entity_type=part.entity_type, entity_name=part.entity_name)
            for part in sorted(entry.entity, key=attrgetter("entity_type"))
        ],
    )


def _records(
    context: ControllerContext, entity: QuotaEntity, entry: RequestEntryData
) -> Iterator[MetadataRecord]:
    """Only of what is another than before."""
    quotas = context.image.security.quotas
    for op in entry.ops:
        current = quotas.get((entity, op.key))
        if op.remove if current is None else (not op.remove and current.value == op.value):
            continue
        yield ClientQuotaRecord(
            entity=[
                EntityData(entity_type=part.entity_type, entity_name=part.entity_name)
                for part in entry.entity
            ],
            key=op.key,
            value=0.0 if op.remove else op.value,
            remove=op.remove,
        )


def _check(entry: RequestEntryData) -> None:
    keys = _keys_of(entry)
    named: set[str] = set()
    for op in entry.ops:
        if op.key in named:
            raise _invalid(f"Duplicate quota key {op.key} not updating quota for this entity")
        named.add(op.key)
        # Taking away what there cannot be is no mistake.
        if not op.remove:
            _check_value(op, keys)


def _keys_of(entry: RequestEntryData) -> _Keys:
    kinds = [part.entity_type for part in entry.entity]
    if not kinds:
        raise _invalid("Invalid empty client quota entity")
    for part in entry.entity:
        kind, name = part.entity_type, part.entity_name
        if kind not in ENTITY_TYPES:
            raise _invalid(f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise _invalid(f"Empty {kind} not supported")
    if "ip" not in kinds:
        return _CLIENT_KEYS
    if len(kinds) > 1:
        raise _invalid(
            "Invalid quota entity combination, IP entity should not be combined with User or "
            "ClientId"
        )
    _check_address(entry.entity[0].entity_name)
    return _IP_KEYS


def _check_address(name: str | None) -> None:
    """Whether a name leads anywhere is not looked up: that would take time."""
    if name is None or _HOST_NAME.fullmatch(name):
        return
    try:
        ip_address(name)
    except ValueError:
        raise _invalid(f"{name} is not a valid IP or resolvable host.") from None


def _check_value(op: OpData, keys: _Keys) -> None:
    if op.key not in keys:
        raise _invalid(f"Invalid configuration key {op.key}")
    if not op.value > 0:
        raise _invalid(f"Quota {op.key} must be greater than 0")
    most = keys[op.key]
    if most is None:
        return
    if op.value > most:
        raise _invalid(f"Proposed value for {op.key} is too large for {_TOO_LARGE[most]}.")
    if op.value % 1.0 > _FRACTION_MIN:
        raise _invalid(f"{op.key} cannot be a fractional value.")


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
