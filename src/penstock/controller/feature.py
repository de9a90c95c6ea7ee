"""UpdateFeatures: levels of features are checked, and stay what they are.

What a level changes is decided when a node starts, so that none can be changed under it. A request
for the level there is succeeds, as in Kafka; any other is refused as by a controller that supports
no other level.
"""

from __future__ import annotations

from penstock.controller.config import SUPPORTED_FEATURES, ControllerContext
from penstock.controller.outcome import Outcome
from penstock.machine.decision import Decision
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

RESULTS_BEFORE = 2
"""Later versions have no result of each feature: all or none are changed."""


def decide_update_features(
    context: ControllerContext, request: UpdateFeaturesRequest, version: int, node_id: int
) -> Outcome[UpdateFeaturesResponse]:
    results: list[UpdatableFeatureResult] = []
    for update in request.feature_updates:
        try:
            _check(context, update, node_id)
        except ApiError as error:
            return Decision((), _refused(error))
        results.append(UpdatableFeatureResult(feature=update.feature, error_message=None))
    if version >= RESULTS_BEFORE:
        results = []
    return Decision((), UpdateFeaturesResponse(error_message=None, results=results))


def _refused(error: ApiError) -> UpdateFeaturesResponse:
    message = (
        "The update failed for all features since the following feature had an error: "
        f"{error.message}"
    )
    return UpdateFeaturesResponse(error_code=error.code, error_message=message)


def _check(context: ControllerContext, update: FeatureUpdateKey, node_id: int) -> None:
    level, name = update.max_version_level, update.feature
    if level < 0:
        raise _invalid(update, "A feature version cannot be less than 0.")
    if name not in SUPPORTED_FEATURES:
        raise _invalid(update, f"Local controller {node_id} does not support this feature.")
    there = context.image.features.get(name, 0)
    if level != there:
        raise _invalid(update, f"Local controller {node_id} only supports versions {there}-{there}")


def _invalid(update: FeatureUpdateKey, reason: str) -> ApiError:
    return ApiError(
        ErrorCode.INVALID_UPDATE_VERSION,
        f"Invalid update version {update.max_version_level} for feature {update.feature}. {reason}",
    )
