"""Share sessions: which partitions a member reads at this broker, and that its requests come in
order (KIP-932).

A session belongs to a connection: when that ends, what the member had goes to others.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.handlers.call import ClientState
from penstock.model.error import ApiError, ErrorCode
from penstock.model.id import TopicId
from penstock.protocol.messages.share_fetch import ShareFetchRequest

OPENING_EPOCH = 0
CLOSING_EPOCH = -1
MEMBER_ID_CHARS_MAX = 36
_EPOCH_MAX = 0x7FFFFFFF

Place = tuple[TopicId, int]


class ShareSession:
    __slots__ = ("client", "epoch", "group_id", "is_over", "member_id", "places")

    def __init__(self, group_id: str, member_id: str, client: ClientState) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.client = client
        self.epoch = 1
        self.places: dict[Place, None] = {}
        """In turn: who gave records goes behind those who have not yet."""
        self.is_over = False

    def update(self, request: ShareFetchRequest) -> None:
        for topic in request.topics:
            for one in topic.partitions:
                self.places.setdefault((topic.topic_id, one.partition_index))
        for gone in request.forgotten_topics_data:
            for index in gone.partitions:
                self.places.pop((gone.topic_id, index), None)

    def move_to_end(self, place: Place) -> None:
        if place in self.places:
            del self.places[place]
            self.places[place] = None


class ShareSessions:
    def __init__(self, sessions_max: int) -> None:
        self._sessions_max = sessions_max
        self._sessions: dict[tuple[str, str], ShareSession] = {}
        self._of_clients: dict[ClientState, list[ShareSession]] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, group_id: str, member_id: str, client: ClientState) -> ShareSession:
        """The one that the member may have had is to be ended first."""
        if len(self._sessions) >= self._sessions_max:
            raise ApiError(ErrorCode.SHARE_SESSION_LIMIT_REACHED)
        session = ShareSession(group_id, member_id, client)
        self._sessions[group_id, member_id] = session
        self._of_clients.setdefault(client, []).append(session)
        return session

    def get(self, group_id: str, member_id: str) -> ShareSession | None:
        return self._sessions.get((group_id, member_id))

    def find(self, group_id: str, member_id: str, epoch: int) -> ShareSession:
        """The next request of a session, or its last one."""
        session = self._sessions.get((group_id, member_id))
        if session is None:
            raise ApiError(ErrorCode.SHARE_SESSION_NOT_FOUND)
        if epoch == CLOSING_EPOCH:
            return session
        if epoch != session.epoch:
            raise ApiError(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
        session.epoch = 1 if session.epoch == _EPOCH_MAX else session.epoch + 1
        return session

    def end(self, session: ShareSession) -> None:
        session.is_over = True
        self._sessions.pop((session.group_id, session.member_id), None)
        others = self._of_clients.get(session.client, [])
        if session in others:
            others.remove(session)
        if not others:
            self._of_clients.pop(session.client, None)

    def has_group(self, group_id: str) -> bool:
        return any(group == group_id for group, _ in self._sessions)

    def of_client(self, client: ClientState) -> Iterable[ShareSession]:
        return tuple(self._of_clients.get(client, ()))


def check_group_id(group_id: str | None) -> str:
    """Null is no group; an empty name is one, as far as Kafka cares."""
    if group_id is None:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    return group_id


def check_member_id(member_id: str | None) -> str:
    if not member_id or len(member_id) > MEMBER_ID_CHARS_MAX:
        raise ApiError(ErrorCode.INVALID_REQUEST, "The member id is not valid.")
    return member_id
