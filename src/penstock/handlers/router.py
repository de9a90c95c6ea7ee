"""From a frame to its handler and back to bytes: header, version, decoding, measuring, encoding."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from types import CoroutineType
from typing import Any, cast

from penstock.handlers.broker import Broker
from penstock.handlers.call import Call, ClientState
from penstock.handlers.element_limit import elements_max
from penstock.handlers.loop_time import LoopTime
from penstock.handlers.pace import Pace
from penstock.handlers.pieces import (
    LARGE_HEAVY_COUNT,
    LARGE_REQUEST_BYTES,
    THREAD_REQUEST_BYTES,
    answer_array,
    cut_of,
    element_count,
    pieces,
)
from penstock.handlers.table import CHANGES, CHANGES_METADATA, HOT, Handler, Modules, load
from penstock.model.error import ApiError, ErrorCode, ProtocolError, StorageError, code_of
from penstock.network.later import Later, future_of
from penstock.network.part import Exclusive, Part, Reply, Served
from penstock.network.turn import Turn
from penstock.protocol.api import ApiSpec
from penstock.protocol.codec import request_decoder
from penstock.protocol.entity import Entity
from penstock.protocol.frame import (
    API_BY_KEY,
    PiecedResponse,
    PiecesEncoder,
    UnsupportedVersion,
    decode_client_id,
    decode_request_header,
    decode_request_start,
    response_encoder,
)
from penstock.protocol.source import has_records
from penstock.protocol.wire import Buffer
from penstock.telemetry.log import get_logger
from penstock.telemetry.metric import Histogram

API_VERSIONS = 18
ANSWER_BYTES_MAX = 100 * 1024 * 1024
"""To a request over many elements, which may name the same large thing many times."""
ENCODED_AT_ONCE = 200
"""Of an answer's long array."""

log = get_logger("request")

Decode = Callable[[Buffer, int], tuple[Any, int]]
Respond = Callable[[int, Any], list[Part]]


class Route:
    """Everything known about one API at one version, looked up once."""

    __slots__ = (
        "api_key",
        "copied",
        "cut",
        "decode",
        "flexible",
        "handle",
        "latency_s",
        "pieces_encoder",
        "respond",
        "version",
    )

    def __init__(
        self,
        spec: ApiSpec,
        version: int,
        handle: Handler,
        latency_s: Histogram,
        elements_limit: int,
    ) -> None:
        self.api_key = spec.key
        self.version = version
        self.flexible = spec.request_header_version(version) == 2
        limit = elements_max(spec.key, elements_limit)
        self.decode: Decode = request_decoder(spec.request_class(), version, limit)
        # Cutting bytes is twice as fast as cutting a view; records alone are read in place.
        self.copied = not has_records(spec.request_class())
        self.handle = handle
        self.latency_s = latency_s
        # The protocol passes records through untouched: here they are bytes or file slices.
        self.respond = cast(Respond, response_encoder(spec, version))
        self.cut = cut_of(spec.key, version)
        array = answer_array(spec.key, version)
        self.pieces_encoder = None if array is None else PiecesEncoder(spec, version, array)


class Router:
    """Of one listener, or of several that serve the same."""

    def __init__(self, broker: Broker, turn: Turn, modules: Modules) -> None:
        self._broker = broker
        self._turn = turn
        self._modules = modules
        self._throttle = broker.throttle
        self._monotonic = broker.clock.monotonic
        self._routes: dict[tuple[int, int], Route] = {}
        self._changes: set[asyncio.Task[Any]] = set()

    def warm_up(self) -> None:
        """Loads what every client asks for first, so that the first one does not wait for it."""
        for key in HOT:
            if key not in self._modules:
                continue
            self._new_route(key, API_BY_KEY[key].max_version)

    def serve(self, client: ClientState, frame: memoryview) -> Served:
        started = self._monotonic()
        try:
            key, version, correlation_id, size = decode_request_start(frame)
            route = self._routes.get((key, version)) or self._route_of(frame)
        except UnsupportedVersion as error:
            return self._answer_unsupported(error)
        if route.cut is not None and len(frame) > LARGE_REQUEST_BYTES:
            return self._serve_large(client, frame, route, version, started)
        data = bytes(frame) if route.copied else frame
        client.client_id, pos = decode_client_id(data, size, route.flexible)
        request, _ = route.decode(data, pos)
        if route.cut is not None and route.cut.heavy:
            count = element_count(request, route.cut)
            if count > 1:
                heavy = Call(client, version)
                return self._serve_heavy(request, count, heavy, correlation_id, route, started)
        call = Call(client, version)
        try:
            answer = route.handle(self._broker, request, call)
        except (ApiError, StorageError) as error:
            answer = self._refuse(route, request, error)
        if self._throttle.is_on:
            answer = self._throttle.apply(key, request, call, answer, len(frame), started)
        if type(answer) is Later:
            return answer.map(
                lambda settled: self._respond(settled, correlation_id, route, started)
            )
        if type(answer) is CoroutineType:
            if key in CHANGES:
                answer = self._done_unheard(answer)
            finish = self._finish(answer, request, correlation_id, route, started)
            return Exclusive(finish) if key in CHANGES_METADATA else finish
        return self._respond(answer, correlation_id, route, started)

    def _done_unheard(self, change: Coroutine[Any, Any, Any]) -> Coroutine[Any, Any, Any]:
        """The same, for a connection that may end before it: as in Kafka, what was asked for is
        done all the same."""
        task = asyncio.get_running_loop().create_task(change)
        self._changes.add(task)
        task.add_done_callback(self._changes.discard)
        return _shielded(task)

    def _respond(self, answer: Any, correlation_id: int, route: Route, started: float) -> Reply:
        route.latency_s.observe(self._monotonic() - started)
        return None if answer is None else route.respond(correlation_id, answer)

    async def answer_embedded(self, client: ClientState, data: bytes) -> bytes:
        """A request without its size, from an envelope; the whole frame of the answer."""
        key, version, correlation_id, size = decode_request_start(data)
        route = self._routes.get((key, version)) or self._route_of(memoryview(data))
        client.client_id, pos = decode_client_id(data, size, route.flexible)
        request, _ = route.decode(data, pos)
        try:
            answer = await _settled(route.handle(self._broker, request, Call(client, version)))
        except (ApiError, StorageError) as error:
            if isinstance(error, ApiError) and error.code == ErrorCode.NOT_CONTROLLER:
                raise
            answer = self._refuse(route, request, error)
        return b"".join(cast(list[bytes], route.respond(correlation_id, answer)))

    # A request over many elements

    def _serve_large(
        self, client: ClientState, frame: memoryview, route: Route, version: int, started: float
    ) -> Exclusive | Turn:
        """One at a time: what it is made of takes many times the memory of its bytes."""
        if not self._turn.is_free:
            return self._turn
        self._turn.take()
        data = bytes(frame)

        async def answer() -> Reply:
            _, _, correlation_id, size = decode_request_start(data)
            client.client_id, pos = decode_client_id(data, size, route.flexible)
            if len(data) > THREAD_REQUEST_BYTES:
                request, _ = await asyncio.to_thread(route.decode, data, pos)
            else:
                request, _ = route.decode(data, pos)
            call = Call(client, version)
            return await self._join_pieces(request, call, correlation_id, route, started)

        return Exclusive(answer(), self._turn.give_back)

    def _serve_heavy(
        self,
        request: Entity,
        count: int,
        call: Call,
        correlation_id: int,
        route: Route,
        started: float,
    ) -> Exclusive | Turn:
        """Few elements, but each may have a long answer."""
        if count <= LARGE_HEAVY_COUNT:
            return Exclusive(self._join_pieces(request, call, correlation_id, route, started))
        if not self._turn.is_free:
            return self._turn
        self._turn.take()
        joined = self._join_pieces(request, call, correlation_id, route, started)
        return Exclusive(joined, self._turn.give_back)

    async def _join_pieces(
        self, request: Entity, call: Call, correlation_id: int, route: Route, started: float
    ) -> Reply:
        """What is answered is encoded before more is asked for."""
        assert route.pieces_encoder is not None and route.cut is not None
        response = PiecedResponse(route.pieces_encoder, correlation_id)
        pace, spent = Pace(self._monotonic), LoopTime(self._monotonic, started)
        answer: Any = None
        for piece in pieces(request, route.cut, pace.size):
            answer = await _settled(route.handle(self._broker, piece, call))
            response.add(getattr(answer, response.array))
            if response.size_bytes > ANSWER_BYTES_MAX:
                raise ProtocolError(f"the answer would have more than {ANSWER_BYTES_MAX} bytes")
            spent.stop()
            await pace.keep()
            spent.start()
        if self._throttle.is_on:
            answer = self._throttle.settle(call.client, answer, spent)
        route.latency_s.observe(self._monotonic() - started)
        return cast(Reply, response.finish(answer))

    async def _finish(
        self,
        waiting: Coroutine[Any, Any, Any],
        request: Entity,
        correlation_id: int,
        route: Route,
        started: float,
    ) -> Reply:
        try:
            answer = await waiting
        except (ApiError, StorageError) as error:
            answer = self._refuse(route, request, error)
        if route.pieces_encoder is None:
            return self._respond(answer, correlation_id, route, started)
        route.latency_s.observe(self._monotonic() - started)
        response = PiecedResponse(route.pieces_encoder, correlation_id)
        pace = Pace(self._monotonic)
        array, at = getattr(answer, response.array), 0
        while at < len(array):
            end = at + pace.size(ENCODED_AT_ONCE)
            response.add(array[at:end])
            at = end
            await pace.keep()
        return cast(Reply, response.finish(answer))

    def _refuse(self, route: Route, request: Entity, error: ApiError | StorageError) -> Entity:
        from penstock.handlers.refusal import refuse

        name = API_BY_KEY[route.api_key].name
        answer = refuse(route.api_key, route.version, request, error)
        if answer is None:
            raise error
        self._broker.metrics.count_error(name, code_of(error).name)
        log.warning("request refused", api=name, reason=str(error))
        return answer

    def _route_of(self, frame: memoryview) -> Route:
        """The first request of its kind: here it is found out whether it is spoken at all."""
        header, _ = decode_request_header(frame)
        return self._new_route(header.request_api_key, header.request_api_version)

    def _new_route(self, api_key: int, version: int) -> Route:
        spec = API_BY_KEY[api_key]
        if api_key not in self._modules:
            raise ProtocolError(f"API {spec.name} is not served")
        latency_s = self._broker.metrics.latency_of(spec.name)
        limit = self._broker.config.request_elements_max
        route = Route(spec, version, self._handler_of(api_key), latency_s, limit)
        self._routes[api_key, version] = route
        return route

    def _handler_of(self, api_key: int) -> Handler:
        module = self._modules[api_key]
        handle = load(module)
        if self._broker.authorizer is not None:
            from penstock.handlers.authorization.guard import guarded

            handle = guarded(api_key, module, handle)
        if self._broker.audit is not None:
            from penstock.handlers.audited import audited

            # Around the guard: what it refuses is on record.
            handle = audited(handle, api_key, self._broker.audit)
        return handle

    def _answer_unsupported(self, error: UnsupportedVersion) -> list[Part]:
        """A newer client asks for ApiVersions in a version of its own time and learns from an
        answer in version 0 what this node speaks (KIP-511). Any other API closes."""
        if error.header.request_api_key != API_VERSIONS:
            raise error
        from penstock.handlers.api.api_versions import unsupported

        answer = unsupported(self._broker, self._modules)
        respond = cast(Respond, response_encoder(API_BY_KEY[API_VERSIONS], 0))
        return respond(error.header.correlation_id, answer)


async def _settled(answer: Any) -> Any:
    if type(answer) is Later:
        return await future_of(answer)
    if type(answer) is CoroutineType:
        return await answer
    return answer


async def _shielded(task: asyncio.Task[Any]) -> Any:
    return await asyncio.shield(task)
