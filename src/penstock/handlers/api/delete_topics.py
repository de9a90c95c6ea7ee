"""DeleteTopics: asked of the controller, answered when its records are committed."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.protocol.messages.delete_topics import DeleteTopicsRequest


def handle(broker: Broker, request: DeleteTopicsRequest, call: Call) -> Answer:
    return broker.controller.delete_topics(request)
