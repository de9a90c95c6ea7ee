"""UpdateFeatures: the levels that all nodes of the cluster keep to are raised or lowered together.

A level has to be known to every registered broker, at work or not, and to every controller. What
this node cannot change while it runs stays as it is: a request for the level there is succeeds, as
in Kafka; any other is refused as by a controller that supports no other level.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Final

from penstock.controller.config import ELIGIBLE_LEADERS, SUPPORTED_FEATURES, ControllerContext
from penstock.controller.feature_level import check_dependencies, check_metadata_level
from penstock.controller.leader_rules import MIN_ISR
from penstock.controller.outcome import Outcome, conclude
from penstock.machine.decision import Decision
from penstock.metadata.config import ResourceType
from penstock.metadata.record import MetadataRecord
from penstock.metadata.release import KRAFT_VERSION
from penstock.metadata.version import METADATA_VERSION
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.records.clear_elr_record import ClearElrRecord
from penstock.protocol.messages.records.config_record import ConfigRecord
from penstock.protocol.messages.records.feature_level_record import FeatureLevelRecord
from penstock.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

RESULTS_BEFORE: Final = 2
"""Later versions have no result of each feature: all or none are changed."""

_NOT_KNOWN: Final = (0, 0)


class UpgradeType(IntEnum):
    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


def decide_update_features(
    context: ControllerContext, request: UpdateFeaturesRequest, version: int, node_id: int
) -> Outcome[UpdateFeaturesResponse]:
    records: list[MetadataRecord] = []
    levels = dict(context.image.features)
    levels.update((one.feature, one.max_version_level) for one in request.feature_updates)
    try:
        for update in request.feature_updates:
            records += _update(context, update, version, node_id, levels)
    except ApiError as error:
        return Decision((), _refused(error))
    results = [
        UpdatableFeatureResult(feature=one.feature, error_message=None)
        for one in request.feature_updates
    ]
    response = UpdateFeaturesResponse(
        error_message=None, results=results if version < RESULTS_BEFORE else []
    )
    return conclude(context.config, [] if request.validate_only else records, response)


def _refused(error: ApiError) -> UpdateFeaturesResponse:
    message = (
        "The update failed for all features since the following feature had an error: "
        f"{error.message}"
    )
    return UpdateFeaturesResponse(error_code=error.code, error_message=message)


def _update(
    context: ControllerContext,
    update: FeatureUpdateKey,
    version: int,
    node_id: int,
    levels: Mapping[str, int],
) -> list[MetadataRecord]:
    """`levels` are those of all features as they would be."""
    level, name = update.max_version_level, update.feature
    there = _level(context, name)
    if level < 0:
        raise _invalid(update, "A feature version cannot be less than 0.")
    if name not in SUPPORTED_FEATURES:
        raise _invalid(update, f"Local controller {node_id} does not support this feature.")
    low, high = context.config.feature_ranges.get(name, (there, there))
    if not low <= level <= high:
        raise _invalid(update, f"Local controller {node_id} only supports versions {low}-{high}")
    if level == there:
        return []
    _check_nodes(context, update, node_id)
    _check_direction(update, version, there)
    if name == KRAFT_VERSION:
        return _kraft_version(update, there)
    if name == METADATA_VERSION:
        try:
            check_metadata_level(
                there, level, unsafe=update.upgrade_type == UpgradeType.UNSAFE_DOWNGRADE
            )
        except ValueError as problem:
            raise ApiError(ErrorCode.INVALID_UPDATE_VERSION, str(problem)) from None
    try:
        check_dependencies(levels)
    except ValueError as problem:
        raise _invalid(update, str(problem)) from None
    records: list[MetadataRecord] = [FeatureLevelRecord(name=name, feature_level=level)]
    if name == ELIGIBLE_LEADERS:
        # Who was eligible is not kept up to date while the feature is off.
        records += _one_min_isr(context) if level else [ClearElrRecord()]
    return records


def _level(context: ControllerContext, name: str) -> int:
    if name == KRAFT_VERSION:
        return context.quorum.kraft_version
    return context.image.features.get(name, 0)


def _kraft_version(update: FeatureUpdateKey, there: int) -> list[MetadataRecord]:
    """What the quorum writes down of it is none of the controller's records."""
    if update.max_version_level < there:
        raise _invalid(update, "Can't downgrade the version of this feature.")
    return []


def _check_nodes(context: ControllerContext, update: FeatureUpdateKey, node_id: int) -> None:
    level = update.max_version_level
    for who, (low, high) in _ranges(context, update.feature, node_id):
        if not low <= level <= high:
            raise _invalid(update, f"{who} only supports versions {low}-{high}")
    registered = {*context.image.controllers, node_id}
    for voter_id in sorted(context.quorum.voter_ids - registered):
        raise _invalid(
            update, f"controller {voter_id} has not registered, and may not support this feature"
        )


def _ranges(
    context: ControllerContext, name: str, node_id: int
) -> Iterator[tuple[str, tuple[int, int]]]:
    for broker in context.image.brokers.values():
        known = {one.name: (one.min_level, one.max_level) for one in broker.features}
        yield f"Broker {broker.id}", known.get(name, _NOT_KNOWN)
    for controller in context.image.controllers.values():
        if controller.controller_id != node_id:
            ranges = {
                one.name: (one.min_supported_version, one.max_supported_version)
                for one in controller.features
            }
            yield f"Controller {controller.controller_id}", ranges.get(name, _NOT_KNOWN)


def _check_direction(update: FeatureUpdateKey, version: int, there: int) -> None:
    kind = update.upgrade_type
    if version == 0:
        kind = UpgradeType.SAFE_DOWNGRADE if update.allow_downgrade else UpgradeType.UPGRADE
    if kind not in UpgradeType.__members__.values():
        raise _invalid(update, "The controller does not support the given upgrade type.")
    is_lower = update.max_version_level < there
    if is_lower and kind == UpgradeType.UPGRADE:
        raise _invalid(
            update,
            "Can't downgrade the version of this feature without setting the upgrade type to "
            "either safe or unsafe downgrade.",
        )
    if not is_lower and kind != UpgradeType.UPGRADE and version > 0:
        raise _invalid(update, "Can't downgrade to a newer version.")


def _one_min_isr(context: ControllerContext) -> list[MetadataRecord]:
    """From here on the cluster, and no broker by itself, says how many replicas are enough."""
    configs = context.image.configs
    records: list[MetadataRecord] = []
    if MIN_ISR not in configs.broker(None):
        wanted = str(context.config.min_insync_replicas)
        records.append(_broker_config("", wanted))
    for name in configs.names(ResourceType.BROKER):
        if name and MIN_ISR in configs.of(ResourceType.BROKER, name):
            records.append(_broker_config(name, None))
    return records


def _broker_config(name: str, value: str | None) -> ConfigRecord:
    return ConfigRecord(
        resource_type=ResourceType.BROKER, resource_name=name, name=MIN_ISR, value=value
    )


def _invalid(update: FeatureUpdateKey, reason: str) -> ApiError:
    return ApiError(
        ErrorCode.INVALID_UPDATE_VERSION,
        f"Invalid update version {update.max_version_level} for feature {update.feature}. {reason}",
    )
