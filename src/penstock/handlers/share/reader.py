"""Which topics a member of a share group may read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.handlers.authorization.access import access_of
from penstock.handlers.broker import Broker
from penstock.handlers.call import ClientState
from penstock.model.acl import Operation, ResourceType
from penstock.model.id import TopicId

if TYPE_CHECKING:
    from penstock.security.access import Access


def access_of_client(broker: Broker, client: ClientState) -> Access | None:
    """None where everybody may do everything."""
    return None if broker.authorizer is None else access_of(broker, client)


def may_read(broker: Broker, access: Access | None) -> Callable[[TopicId], bool]:
    """By id. A topic that nobody knows is for others to refuse."""

    def may(topic_id: TopicId) -> bool:
        topic = broker.image.topics.get_by_id(topic_id)
        if access is None or topic is None:
            return True
        return access.may(Operation.READ, ResourceType.TOPIC, topic.name)

    return may
