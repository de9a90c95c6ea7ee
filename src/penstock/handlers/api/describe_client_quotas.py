"""DescribeClientQuotas: those that the metadata log holds."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.metadata.quota_filter import ENTITY_TYPES, QuotaFilter
from penstock.metadata.security import QuotaEntity, SecurityImage
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)

# As Apache Kafka's map has the three that clients set together: clients compare the list.
_ORDER = (
    "connection_creation_rate",
    "consumer_byte_rate",
    "controller_mutation_rate",
    "request_percentage",
    "producer_byte_rate",
)
_RANK = {key: rank for rank, key in enumerate(_ORDER)}


class Match(IntEnum):
    EXACT = 0
    DEFAULT = 1
    SPECIFIED = 2


def handle(broker: Broker, request: DescribeClientQuotasRequest, call: Call) -> Answer:
    try:
        wanted = _filter(request.components, request.strict)
    except ApiError as error:
        return DescribeClientQuotasResponse(
            error_code=error.code, error_message=error.message, entries=None
        )
    security = broker.image.security
    found = wanted.select(entity for entity, _ in security.quotas)
    return DescribeClientQuotasResponse(entries=[_entry(security, entity) for entity in found])


def _entry(security: SecurityImage, entity: QuotaEntity) -> EntryData:
    values = (
        ValueData(key=key, value=record.value)
        for (owner, key), record in security.quotas.items()
        if owner == entity
    )
    return EntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in sorted(entity)],
        values=sorted(values, key=lambda value: _RANK.get(value.key, len(_RANK))),
    )


def _filter(components: Sequence[ComponentData], strict: bool) -> QuotaFilter:
    kinds: list[str] = []
    for component in components:
        _check(component, kinds)
        kinds.append(component.entity_type)
    if "ip" in kinds and len(kinds) > 1:
        raise _invalid(
            "Invalid entity filter component combination. IP filter component should not be used "
            "with user or clientId filter component."
        )
    specified = [one.entity_type for one in components if one.match_type == Match.SPECIFIED]
    exact = [
        (one.entity_type, one.match) for one in components if one.match_type != Match.SPECIFIED
    ]
    return QuotaFilter(frozenset(exact), frozenset(specified), strict)


def _check(component: ComponentData, before: Sequence[str]) -> None:
    kind = component.entity_type
    if not kind:
        raise _invalid("Invalid empty entity type.")
    if kind in before:
        raise _invalid(f"Entity type {kind} cannot appear more than once in the filter.")
    if kind not in ENTITY_TYPES:
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION, f"Unsupported entity type {kind}")
    if component.match_type not in set(Match):
        raise _invalid(f"Unknown match type {component.match_type}")
    match = Match(component.match_type)
    if match == Match.EXACT and component.match is None:
        raise _invalid("Request specified MATCH_TYPE_EXACT, but set match string to null.")
    if match != Match.EXACT and component.match is not None:
        raise _invalid(
            f"Request specified MATCH_TYPE_{match.name}, but also specified a match string."
        )


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
