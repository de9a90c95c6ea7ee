"""DescribeClientQuotas: the limits of users, clients and addresses that a filter asks for.

They are set by AlterClientQuotas, which is not served yet: what there is came with the log.
"""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.metadata.security import QuotaEntity
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)

USER, CLIENT_ID, IP = "user", "client-id", "ip"
EXACT, DEFAULT, ANY = 0, 1, 2


def handle(broker: Broker, request: DescribeClientQuotasRequest, call: Call) -> Answer:
    try:
        _check_filter(request.components)
    except ApiError as error:
        return DescribeClientQuotasResponse(
            error_code=error.code, error_message=error.message, entries=None
        )
    entries: dict[QuotaEntity, EntryData] = {}
    for (entity, key), record in broker.image.security.quotas.items():
        if _is_asked(entity, request):
            entry = entries.get(entity) or entries.setdefault(entity, _entry(entity))
            entry.values.append(ValueData(key=key, value=record.value))
    return DescribeClientQuotasResponse(error_message="", entries=list(entries.values()))


def _check_filter(components: list[ComponentData]) -> None:
    seen: set[str] = set()
    for one in components:
        if not one.entity_type:
            raise _invalid("Invalid empty entity type.")
        if one.entity_type in seen:
            raise _invalid(
                f"Entity type {one.entity_type} cannot appear more than once in the filter."
            )
        if one.entity_type not in (USER, CLIENT_ID, IP):
            raise ApiError(
                ErrorCode.UNSUPPORTED_VERSION, f"Unsupported entity type {one.entity_type}"
            )
        _check_match(one)
        seen.add(one.entity_type)
    if IP in seen and len(seen) > 1:
        raise _invalid(
            "Invalid entity filter component combination. IP filter component should not be used"
            " with user or clientId filter component."
        )


def _check_match(one: ComponentData) -> None:
    if one.match_type not in (EXACT, DEFAULT, ANY):
        raise _invalid(f"Unknown match type {one.match_type}")
    if one.match_type == EXACT and one.match is None:
        raise _invalid("Request specified MATCH_TYPE_EXACT, but set match string to null.")
    if one.match_type != EXACT and one.match is not None:
        form = "MATCH_TYPE_DEFAULT" if one.match_type == DEFAULT else "MATCH_TYPE_SPECIFIED"
        raise _invalid(f"Request specified {form}, but also specified a match string.")


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)


def _is_asked(entity: QuotaEntity, request: DescribeClientQuotasRequest) -> bool:
    """`strict` leaves out entities with parts that the filter does not name."""
    names = dict(entity)
    for one in request.components:
        if one.entity_type not in names:
            return False
        if one.match_type != ANY and names[one.entity_type] != one.match:
            return False
    return not request.strict or len(names) == len(request.components)


def _entry(entity: QuotaEntity) -> EntryData:
    parts = sorted(entity, key=lambda part: part[0])
    return EntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in parts]
    )
