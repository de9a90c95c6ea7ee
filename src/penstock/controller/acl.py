"""CreateAcls and DeleteAcls: which access control entries there are, as Kafka's AclControlManager
has it. What an entry means is decided in `security`."""

from __future__ import annotations

from enum import IntEnum

from penstock.controller.config import ControllerContext
from penstock.controller.outcome import Outcome, conclude
from penstock.metadata.acl import Acl, acl_record
from penstock.metadata.acl_filter import AclFilter, filter_of, known
from penstock.metadata.record import MetadataRecord
from penstock.model.acl import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.create_acls import (
    AclCreation,
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from penstock.protocol.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from penstock.protocol.messages.records.remove_access_control_entry_record import (
    RemoveAccessControlEntryRecord,
)

ACLS_PER_REQUEST_MAX = 10_000


def decide_create_acls(
    context: ControllerContext, request: CreateAclsRequest
) -> Outcome[CreateAclsResponse]:
    """An entry that is refused is left out, the others are made. What is there stays as it is."""
    made: dict[Acl, MetadataRecord] = {}
    results: list[AclCreationResult] = []
    for creation in request.creations:
        result = AclCreationResult(error_message="")
        try:
            acl = _checked(creation)
            if acl not in context.image.security.acls and acl not in made:
                made[acl] = acl_record(context.new_id(), acl)
        except ApiError as error:
            result.error_code, result.error_message = error.code, error.message
        results.append(result)
    if len(made) > ACLS_PER_REQUEST_MAX:
        raise ApiError(ErrorCode.POLICY_VIOLATION, "Too many ACLs in one request")
    return conclude(context.config, list(made.values()), CreateAclsResponse(results=results))


def _checked(creation: AclCreation) -> Acl:
    acl = Acl(
        known(ResourceType, creation.resource_type),
        creation.resource_name,
        known(PatternType, creation.resource_pattern_type),
        creation.principal,
        creation.host,
        known(Operation, creation.operation),
        known(Permission, creation.permission_type),
    )
    if acl.resource_type == ResourceType.CLUSTER and acl.resource_name != CLUSTER_NAME:
        raise _invalid(f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}")
    if not acl.resource_name:
        raise _invalid("Invalid empty resource name")
    if acl.resource_type in (ResourceType.UNKNOWN, ResourceType.ANY):
        raise _unfit("resourceType", ResourceType(acl.resource_type))
    if acl.pattern_type not in (PatternType.LITERAL, PatternType.PREFIXED):
        raise _unfit("patternType", PatternType(acl.pattern_type))
    if acl.operation in (Operation.UNKNOWN, Operation.ANY):
        raise _unfit("operation", Operation(acl.operation))
    if acl.permission not in (Permission.DENY, Permission.ALLOW):
        raise _unfit("permissionType", Permission(acl.permission))
    if ":" not in acl.principal:
        raise _invalid(
            f"Could not parse principal from `{acl.principal}` (no colon is present separating "
            "the principal type from the principal name)"
        )
    return acl


def decide_delete_acls(
    context: ControllerContext, request: DeleteAclsRequest
) -> Outcome[DeleteAclsResponse]:
    acls = context.image.security.acls.by_id
    gone: dict[bytes, MetadataRecord] = {}
    results: list[DeleteAclsFilterResult] = []
    for one in request.filters:
        result = DeleteAclsFilterResult(error_message=None)
        try:
            wanted = filter_of(one)
            _check_filter(wanted)
            for acl_id, acl in acls.items():
                if wanted.matches(acl):
                    result.matching_acls.append(_told(acl))
                    gone[acl_id] = RemoveAccessControlEntryRecord(id=acl_id)
        except ApiError as error:
            result.error_code, result.error_message = error.code, error.message
        results.append(result)
    if len(gone) > ACLS_PER_REQUEST_MAX:
        raise ApiError(
            ErrorCode.UNKNOWN_SERVER_ERROR,
            f"Cannot remove more than {ACLS_PER_REQUEST_MAX} acls in a single delete operation.",
        )
    response = DeleteAclsResponse(filter_results=results)
    return conclude(context.config, list(gone.values()), response)


def _check_filter(wanted: AclFilter) -> None:
    if not wanted.resource_type or not wanted.pattern_type:
        raise _invalid("Unknown patternFilter.")
    if not wanted.operation or not wanted.permission:
        raise _invalid("Unknown entryFilter.")


def _told(acl: Acl) -> DeleteAclsMatchingAcl:
    return DeleteAclsMatchingAcl(
        error_message=None,
        resource_type=acl.resource_type,
        resource_name=acl.resource_name,
        pattern_type=acl.pattern_type,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission,
    )


def _unfit(field: str, word: IntEnum) -> ApiError:
    return _invalid(f"Invalid {field} {word.name}")


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
