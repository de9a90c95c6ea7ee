"""SCRAM credentials of users: kept for whoever will have to log in with them.

What is kept cannot be turned back into a password: of the salted password only the two keys that
RFC 5802 derives from it go into a record.
"""

from __future__ import annotations

import hmac
from hashlib import new as new_hash

from penstock.controller.config import ControllerContext
from penstock.controller.decoy import decoy_secret
from penstock.controller.outcome import Outcome, conclude
from penstock.metadata.image import ClusterImage
from penstock.metadata.record import MetadataRecord
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from penstock.protocol.messages.records.remove_user_scram_credential_record import (
    RemoveUserScramCredentialRecord,
)
from penstock.protocol.messages.records.user_scram_credential_record import (
    UserScramCredentialRecord,
)

HASHES = {1: "sha256", 2: "sha512"}
"""By the number of a mechanism: SCRAM-SHA-256 and SCRAM-SHA-512."""
ITERATIONS_MIN, ITERATIONS_MAX = 4096, 16384

Change = ScramCredentialDeletion | ScramCredentialUpsertion


def decide_alter_scram(
    context: ControllerContext, request: AlterUserScramCredentialsRequest
) -> Outcome[AlterUserScramCredentialsResponse]:
    """A user that is refused keeps what it had; the others change."""
    changes: list[Change] = [*request.deletions, *request.upsertions]
    made: dict[str, MetadataRecord | ApiError] = {}
    for change in changes:
        before = made.get(change.name)
        if before is None:
            made[change.name] = _made(context.image, change)
        elif not isinstance(before, ApiError):
            made[change.name] = ApiError(
                ErrorCode.DUPLICATE_RESOURCE,
                "A user credential cannot be altered twice in the same request",
            )
    records = [one for one in made.values() if not isinstance(one, ApiError)]
    records += decoy_secret(context, records)
    results = [_result(user, one) for user, one in made.items()]
    return conclude(context.config, records, AlterUserScramCredentialsResponse(results=results))


def _made(image: ClusterImage, change: Change) -> MetadataRecord | ApiError:
    try:
        _check_change(change)
        if isinstance(change, ScramCredentialUpsertion):
            return _credential(change)
        if (change.name, change.mechanism) not in image.security.scram_credentials:
            raise ApiError(
                ErrorCode.RESOURCE_NOT_FOUND,
                "Attempt to delete a user credential that does not exist",
            )
        return RemoveUserScramCredentialRecord(name=change.name, mechanism=change.mechanism)
    except ApiError as error:
        return error


def _check_change(change: Change) -> None:
    if not change.name:
        raise ApiError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if change.mechanism not in HASHES:
        raise ApiError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    if isinstance(change, ScramCredentialUpsertion):
        if change.iterations < ITERATIONS_MIN:
            raise ApiError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
        if change.iterations > ITERATIONS_MAX:
            raise ApiError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations")
        if not change.salted_password:
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)


def _credential(change: ScramCredentialUpsertion) -> UserScramCredentialRecord:
    kind, secret = HASHES[change.mechanism], change.salted_password
    client_key = hmac.digest(secret, b"Client Key", kind)
    return UserScramCredentialRecord(
        name=change.name,
        mechanism=change.mechanism,
        salt=change.salt,
        stored_key=new_hash(kind, client_key).digest(),
        server_key=hmac.digest(secret, b"Server Key", kind),
        iterations=change.iterations,
    )


def _result(user: str, made: MetadataRecord | ApiError) -> AlterUserScramCredentialsResult:
    result = AlterUserScramCredentialsResult(user=user, error_message=None)
    if isinstance(made, ApiError):
        result.error_code, result.error_message = made.code, made.message
    return result
