"""ApiVersions: what this node speaks, told from the one table of what it serves."""

from __future__ import annotations

from penstock.controller.config import SUPPORTED_FEATURES
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.table import BROKER_MODULES, CONTROLLER_MODULES, Modules
from penstock.metadata.release import KRAFT_VERSION
from penstock.model.error import ErrorCode
from penstock.protocol.frame import API_BY_KEY
from penstock.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

SOFTWARE_NAMED_FROM = 3
ZERO_LEVEL_FROM = 4
"""Older clients take a feature whose lowest level is 0 for a malformed answer."""


def handle(broker: Broker, request: ApiVersionsRequest, call: Call) -> Answer:
    if call.version >= SOFTWARE_NAMED_FROM:
        if not _is_name(request.client_software_name) or not _is_name(
            request.client_software_version
        ):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
        call.client.software_name = request.client_software_name
        call.client.software_version = request.client_software_version
    is_controller = call.client.listener in broker.controller_listeners
    modules = CONTROLLER_MODULES if is_controller else BROKER_MODULES
    return _describe(broker, call.version, modules)


def unsupported(broker: Broker, modules: Modules) -> ApiVersionsResponse:
    response = _describe(broker, 0, modules)
    response.error_code = ErrorCode.UNSUPPORTED_VERSION
    return response


def _describe(broker: Broker, version: int, modules: Modules) -> ApiVersionsResponse:
    response = ApiVersionsResponse(api_keys=_api_keys(modules))
    if version >= SOFTWARE_NAMED_FROM:
        image, kraft_version = broker.image, broker.quorum.kraft_version
        response.supported_features = [
            SupportedFeatureKey(name=name, min_version=low, max_version=high)
            for name, (low, high) in SUPPORTED_FEATURES.items()
            if low > 0 or version >= ZERO_LEVEL_FROM
        ]
        response.finalized_features_epoch = max(image.next_offset - 1, 0)
        response.finalized_features = [
            FinalizedFeatureKey(name=name, min_version_level=level, max_version_level=level)
            for name, level in (*image.features.items(), (KRAFT_VERSION, kraft_version))
            if level > 0
        ]
    return response


def _api_keys(modules: Modules) -> list[ApiVersion]:
    return [
        ApiVersion(
            api_key=key,
            min_version=API_BY_KEY[key].advertised_min_version,
            max_version=API_BY_KEY[key].max_stable_version,
        )
        for key in sorted(modules)
    ]


def _is_name(text: str) -> bool:
    """Letters, digits, dots and dashes, not beginning or ending with a sign (KIP-511)."""
    body = text.replace("-", "").replace(".", "")
    return (
        bool(body)
        and body.isalnum()
        and body.isascii()
        and text[0].isalnum()
        and text[-1].isalnum()
    )
