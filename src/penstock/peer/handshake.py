"""What a node speaks: asked for first on every connection, in a version that it may not know.

A broker that does not know the version answers in version 0, with an error code, and names the
versions of ApiVersions that it knows (KIP-511). Very old ones name none.
"""

from __future__ import annotations

import asyncio
from typing import cast

from penstock.model.error import ErrorCode, ProtocolError
from penstock.peer.connection import PeerConnection
from penstock.peer.error import PeerGone, PeerUnsupported
from penstock.protocol.api import API_VERSIONS_KEY, ApiSpec
from penstock.protocol.entity import Entity
from penstock.protocol.frame import API_BY_KEY, decode_response
from penstock.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse


class Spoken:
    """The other node's side of every version range."""

    __slots__ = ("_ranges", "response")

    def __init__(self, response: ApiVersionsResponse) -> None:
        self.response = response
        self._ranges = {
            one.api_key: (one.min_version, one.max_version) for one in response.api_keys
        }

    def highest(self, spec: ApiSpec) -> int:
        """The highest version that both speak."""
        first, last = self._range(spec)
        version = min(last, spec.max_stable_version)
        if version < max(first, spec.min_version):
            raise PeerUnsupported(
                f"{spec.name} is spoken there in {first}-{last}, here in "
                f"{spec.min_version}-{spec.max_stable_version}"
            )
        return version

    def check(self, spec: ApiSpec, version: int) -> None:
        first, last = self._range(spec)
        if not first <= version <= last:
            raise PeerUnsupported(f"{spec.name} is spoken there in {first}-{last}, not {version}")

    def _range(self, spec: ApiSpec) -> tuple[int, int]:
        found = self._ranges.get(spec.key)
        if found is None:
            raise PeerUnsupported(f"{spec.name} is not spoken there")
        return found


async def learn_versions(connection: PeerConnection, timeout_at: float) -> Spoken:
    version = API_BY_KEY[API_VERSIONS_KEY].max_version
    while True:
        response = await _ask(connection, version, timeout_at)
        if response.error_code == ErrorCode.NONE:
            return Spoken(response)
        if response.error_code != ErrorCode.UNSUPPORTED_VERSION or version == 0:
            raise PeerGone(f"ApiVersions was answered with error {response.error_code}")
        known = [one.max_version for one in response.api_keys if one.api_key == API_VERSIONS_KEY]
        version = min(version - 1, max(0, *known)) if known else 0


def _ask(
    connection: PeerConnection, version: int, timeout_at: float
) -> asyncio.Future[ApiVersionsResponse]:
    request = ApiVersionsRequest(client_software_name="penstock", client_software_version="0")

    def decode(frame: memoryview) -> Entity:
        if len(frame) < 6:
            raise ProtocolError("truncated ApiVersions response")
        error_code = int.from_bytes(frame[4:6], "big", signed=True)
        answered = 0 if error_code == ErrorCode.UNSUPPORTED_VERSION else version
        return decode_response(API_VERSIONS_KEY, answered, frame)[1]

    answer = connection.ask(request, version, timeout_at, decode)
    return cast("asyncio.Future[ApiVersionsResponse]", answer)
