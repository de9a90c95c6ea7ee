"""Our quorum as a voter beside Apache Kafka's controllers, with a listener of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path

from penstock.protocol.entity import Entity
from penstock.protocol.frame import API_BY_KEY, response_encoder
from penstock.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    SupportedFeatureKey,
)
from penstock.quorum.wire import RESPONSES
from penstock.raft import RaftConfig, RaftEndpoint, ReplicaKey, Voter, VoterSet
from tests.mixed.observer_kit import LISTENER, Observer
from tests.request_kit import decode_request

VOTER_ID = 3
NEVER_MS = 120_000


class OurVoter(Observer):
    """Unless told otherwise it votes for others and never stands: what it would have to write as
    leader is a controller's business."""

    can_vote = True

    def __init__(
        self,
        directory: Path,
        port: int,
        voters: str,
        cluster_id: str,
        timeout_ms: int = NEVER_MS,
    ) -> None:
        self.port = port
        self.answered: list[Entity] = []
        self._serving: set[asyncio.Task[None]] = set()
        static = VoterSet(_voter(one) for one in voters.split(","))
        raft = RaftConfig(
            VOTER_ID,
            bytes([VOTER_ID]) * 16,
            endpoints=(RaftEndpoint(LISTENER, "127.0.0.1", port),),
            election_timeout_ms=timeout_ms,
            fetch_timeout_ms=timeout_ms,
        )
        self._set_up(directory, raft, static, cluster_id)

    def on_leader(self, epoch: int) -> None:
        self.leaders.append((VOTER_ID, epoch))

    async def __aenter__(self) -> OurVoter:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.quorum.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in list(self._serving):
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await super().__aexit__()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            while True:
                size = int.from_bytes(await reader.readexactly(4), "big")
                header, request = decode_request(await reader.readexactly(size))
                self.answered.append(request)
                respond = response_encoder(
                    API_BY_KEY[header.request_api_key], header.request_api_version
                )
                for part in respond(header.correlation_id, await self._answer(request)):
                    writer.write(bytes(part))  # type: ignore[call-overload]
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            self._serving.discard(task)
            writer.close()

    async def _answer(self, request: Entity) -> Entity:
        if isinstance(request, ApiVersionsRequest):
            return _versions()
        return await self.quorum.answer(request, LISTENER)


def _voter(text: str) -> Voter:
    node_id, _, address = text.partition("@")
    host, _, port = address.rpartition(":")
    return Voter(ReplicaKey(int(node_id)), (RaftEndpoint(LISTENER, host, int(port)),))


def _versions() -> ApiVersionsResponse:
    served = [ApiVersionsRequest.API_KEY, *(request.API_KEY for request in RESPONSES)]
    specs = [API_BY_KEY[key] for key in served if key is not None]
    return ApiVersionsResponse(
        api_keys=[
            ApiVersion(api_key=one.key, min_version=one.min_version, max_version=one.max_version)
            for one in specs
        ],
        supported_features=[
            SupportedFeatureKey(name="kraft.version", min_version=0, max_version=1),
            SupportedFeatureKey(name="metadata.version", min_version=7, max_version=30),
        ],
    )
