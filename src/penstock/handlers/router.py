"""From a frame to its handler and back to bytes: header, version, decoding, measuring, encoding."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sized
from types import CoroutineType
from typing import Any, cast

from penstock.handlers.broker import Broker
from penstock.handlers.call import Call, ClientState
from penstock.handlers.table import HOT, MODULES, Handler, load
from penstock.model.error import ApiError, ErrorCode, ProtocolError, StorageError
from penstock.network.later import Later
from penstock.network.part import Part, Reply, Served
from penstock.protocol.codec import decoder
from penstock.protocol.entity import Entity
from penstock.protocol.frame import (
    API_BY_KEY,
    UnsupportedVersion,
    decode_request_header,
    encode_response,
)
from penstock.protocol.messages.header import RequestHeader
from penstock.telemetry.log import get_logger
from penstock.telemetry.metric import Histogram

API_VERSIONS = 18

log = get_logger("request")

Decode = Callable[[memoryview, int], tuple[Any, int]]


class Route:
    """Everything known about one API at one version, looked up once."""

    __slots__ = ("decode", "handle", "latency_s")

    def __init__(self, decode: Decode, handle: Handler, latency_s: Histogram) -> None:
        self.decode = decode
        self.handle = handle
        self.latency_s = latency_s


class Router:
    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._monotonic = broker.clock.monotonic
        self._routes: dict[tuple[int, int], Route] = {}

    def warm_up(self) -> None:
        """Loads what every client asks for first, so that the first one does not wait for it."""
        for key in HOT:
            self._route(key, API_BY_KEY[key].max_version)

    def serve(self, client: ClientState, frame: memoryview) -> Served:
        started = self._monotonic()
        try:
            header, pos = decode_request_header(frame)
        except UnsupportedVersion as error:
            return self._answer_unsupported(error)
        client.client_id = header.client_id
        route = self._routes.get((header.request_api_key, header.request_api_version))
        if route is None:
            route = self._route(header.request_api_key, header.request_api_version)
        request, _ = route.decode(frame, pos)
        answer = route.handle(self._broker, request, Call(client, header.request_api_version))
        if type(answer) is Later:
            return answer.map(
                lambda settled: self._encode_measured(settled, header, route, started)
            )
        if type(answer) is CoroutineType:
            return self._finish(answer, request, header, route, started)
        route.latency_s.observe(self._monotonic() - started)
        return None if answer is None else _encode(header, answer)

    async def _finish(
        self,
        waiting: Coroutine[Any, Any, Any],
        request: Entity,
        header: RequestHeader,
        route: Route,
        started: float,
    ) -> Reply:
        try:
            answer = await waiting
        except (ApiError, StorageError) as error:
            answer = self._refuse(header.request_api_key, request, error)
        return self._encode_measured(answer, header, route, started)

    def _refuse(self, api_key: int, request: Entity, error: ApiError | StorageError) -> Entity:
        from penstock.handlers.refusal import refuse

        answer = refuse(api_key, request, error)
        if answer is None:
            raise error
        code = error.code if isinstance(error, ApiError) else ErrorCode.KAFKA_STORAGE_ERROR
        self._broker.metrics.count_error(API_BY_KEY[api_key].name, code.name)
        log.warning("request refused", api=API_BY_KEY[api_key].name, reason=str(error))
        return answer

    def _encode_measured(
        self, answer: Any, header: RequestHeader, route: Route, started: float
    ) -> Reply:
        route.latency_s.observe(self._monotonic() - started)
        return None if answer is None else _encode(header, answer)

    def _route(self, api_key: int, version: int) -> Route:
        if api_key not in MODULES:
            raise ProtocolError(f"API {API_BY_KEY[api_key].name} is not served")
        spec = API_BY_KEY[api_key]
        route = Route(
            decoder(spec.request_class(), version),
            load(api_key),
            self._broker.metrics.latency_of(spec.name),
        )
        self._routes[api_key, version] = route
        return route

    def _answer_unsupported(self, error: UnsupportedVersion) -> list[Part]:
        """A newer client asks for ApiVersions in a version of its own time and learns from an
        answer in version 0 what this node speaks (KIP-511). Any other API closes."""
        if error.header.request_api_key != API_VERSIONS:
            raise error
        from penstock.handlers.api.api_versions import unsupported

        return _parts(
            encode_response(error.header.correlation_id, API_VERSIONS, 0, unsupported(self._broker))
        )


def _encode(header: RequestHeader, answer: Any) -> list[Part]:
    return _parts(
        encode_response(
            header.correlation_id, header.request_api_key, header.request_api_version, answer
        )
    )


def _parts(encoded: list[Sized]) -> list[Part]:
    """The protocol passes records through untouched: here they are bytes or file slices."""
    return cast(list[Part], encoded)
