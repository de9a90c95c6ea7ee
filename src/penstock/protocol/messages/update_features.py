"""UpdateFeatures (number 57). Written by tools/generate_protocol.py.

UpdateFeaturesRequest 0-2, UpdateFeaturesResponse 0-2.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class FeatureUpdateKey(Entity):
    __slots__ = (
        "allow_downgrade",
        "feature",
        "max_version_level",
        "upgrade_type",
    )
    NAME = "FeatureUpdateKey"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    SCHEMA = (
        Field("feature", "string", (0, 2)),
        Field("max_version_level", "int16", (0, 2)),
        Field("allow_downgrade", "bool", (0, 0)),
        Field("upgrade_type", "int8", (1, 2), default=1),
    )

    def __init__(
        self,
        *,
        feature: str = "",
        max_version_level: int = 0,
        allow_downgrade: bool = False,
        upgrade_type: int = 1,
    ) -> None:
        self.feature: str = feature
        self.max_version_level: int = max_version_level
        self.allow_downgrade: bool = allow_downgrade
        self.upgrade_type: int = upgrade_type


class UpdateFeaturesRequest(Entity):
    __slots__ = (
        "feature_updates",
        "timeout_ms",
        "validate_only",
    )
    NAME = "UpdateFeaturesRequest"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    API_KEY = 57
    SCHEMA = (
        Field("timeout_ms", "int32", (0, 2), default=60000),
        Field("feature_updates", FeatureUpdateKey, (0, 2), array=True),
        Field("validate_only", "bool", (1, 2)),
    )

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        feature_updates: Iterable[FeatureUpdateKey] = (),
        validate_only: bool = False,
    ) -> None:
        self.timeout_ms: int = timeout_ms
        self.feature_updates: list[FeatureUpdateKey] = (
            feature_updates if isinstance(feature_updates, list) else list(feature_updates)
        )
        self.validate_only: bool = validate_only


class UpdatableFeatureResult(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "feature",
    )
    NAME = "UpdatableFeatureResult"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("feature", "string", (0, 2)),
        Field("error_code", "int16", (0, 2)),
        Field("error_message", "string", (0, 2), nullable=(0, 2)),
    )

    def __init__(
        self,
        *,
        feature: str = "",
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.feature: str = feature
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class UpdateFeaturesResponse(Entity):
    __slots__ = (
        "error_code",
        "error_message",
        "results",
        "throttle_time_ms",
    )
    NAME = "UpdateFeaturesResponse"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    API_KEY = 57
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 2)),
        Field("error_code", "int16", (0, 2)),
        Field("error_message", "string", (0, 2), nullable=(0, 2)),
        Field("results", UpdatableFeatureResult, (0, 1), array=True, ignorable=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: Iterable[UpdatableFeatureResult] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.results: list[UpdatableFeatureResult] = (
            results if isinstance(results, list) else list(results)
        )
