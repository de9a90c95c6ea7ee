"""ApiVersions (number 18). Written by tools/generate_protocol.py.

ApiVersionsRequest 0-4, ApiVersionsResponse 0-4.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class ApiVersionsRequest(Entity):
    __slots__ = (
        "client_software_name",
        "client_software_version",
    )
    NAME = "ApiVersionsRequest"
    VERSIONS = (0, 4)
    FLEXIBLE = 3
    API_KEY = 18
    SCHEMA = (
        Field("client_software_name", "string", (3, 4), ignorable=True),
        Field("client_software_version", "string", (3, 4), ignorable=True),
    )

    def __init__(
        self,
        *,
        client_software_name: str = "",
        client_software_version: str = "",
    ) -> None:
        self.client_software_name: str = client_software_name
        self.client_software_version: str = client_software_version


class ApiVersion(Entity):
    __slots__ = (
        "api_key",
        "max_version",
        "min_version",
    )
    NAME = "ApiVersion"
    VERSIONS = (0, 4)
    FLEXIBLE = 3
    SCHEMA = (
        Field("api_key", "int16", (0, 4)),
        Field("min_version", "int16", (0, 4)),
        Field("max_version", "int16", (0, 4)),
    )

    def __init__(
        self,
        *,
        api_key: int = 0,
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.api_key: int = api_key
        self.min_version: int = min_version
        self.max_version: int = max_version


class SupportedFeatureKey(Entity):
    __slots__ = (
        "max_version",
        "min_version",
        "name",
    )
    NAME = "SupportedFeatureKey"
    VERSIONS = (3, 4)
    FLEXIBLE = 3
    SCHEMA = (
        Field("name", "string", (3, 4)),
        Field("min_version", "int16", (3, 4)),
        Field("max_version", "int16", (3, 4)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.name: str = name
        self.min_version: int = min_version
        self.max_version: int = max_version


class FinalizedFeatureKey(Entity):
    __slots__ = (
        "max_version_level",
        "min_version_level",
        "name",
    )
    NAME = "FinalizedFeatureKey"
    VERSIONS = (3, 4)
    FLEXIBLE = 3
    SCHEMA = (
        Field("name", "string", (3, 4)),
        Field("max_version_level", "int16", (3, 4)),
        Field("min_version_level", "int16", (3, 4)),
    )

    def __init__(
        self,
        *,
        name: str = "",
        max_version_level: int = 0,
        min_version_level: int = 0,
    ) -> None:
        self.name: str = name
        self.max_version_level: int = max_version_level
        self.min_version_level: int = min_version_level


class ApiVersionsResponse(Entity):
    __slots__ = (
        "api_keys",
        "error_code",
        "finalized_features",
        "finalized_features_epoch",
        "supported_features",
        "throttle_time_ms",
        "zk_migration_ready",
    )
    NAME = "ApiVersionsResponse"
    VERSIONS = (0, 4)
    FLEXIBLE = 3
    API_KEY = 18
    SCHEMA = (
        Field("error_code", "int16", (0, 4)),
        Field("api_keys", ApiVersion, (0, 4), array=True),
        Field("throttle_time_ms", "int32", (1, 4), ignorable=True),
        Field(
            "supported_features",
            SupportedFeatureKey,
            (3, 4),
            array=True,
            tag=0,
            tagged=(3, 4),
            ignorable=True,
        ),
        Field(
            "finalized_features_epoch",
            "int64",
            (3, 4),
            tag=1,
            tagged=(3, 4),
            ignorable=True,
            default=-1,
        ),
        Field(
            "finalized_features",
            FinalizedFeatureKey,
            (3, 4),
            array=True,
            tag=2,
            tagged=(3, 4),
            ignorable=True,
        ),
        Field("zk_migration_ready", "bool", (3, 4), tag=3, tagged=(3, 4), ignorable=True),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        api_keys: Iterable[ApiVersion] = (),
        throttle_time_ms: int = 0,
        supported_features: Iterable[SupportedFeatureKey] = (),
        finalized_features_epoch: int = -1,
        finalized_features: Iterable[FinalizedFeatureKey] = (),
        zk_migration_ready: bool = False,
    ) -> None:
        self.error_code: int = error_code
        self.api_keys: list[ApiVersion] = api_keys if isinstance(api_keys, list) else list(api_keys)
        self.throttle_time_ms: int = throttle_time_ms
        self.supported_features: list[SupportedFeatureKey] = (
            supported_features if isinstance(supported_features, list) else list(supported_features)
        )
        self.finalized_features_epoch: int = finalized_features_epoch
        self.finalized_features: list[FinalizedFeatureKey] = (
            finalized_features if isinstance(finalized_features, list) else list(finalized_features)
        )
        self.zk_migration_ready: bool = zk_migration_ready
