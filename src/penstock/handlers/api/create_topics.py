"""CreateTopics: asked of the controller, answered when its records are committed."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.protocol.messages.create_topics import CreateTopicsRequest


def handle(broker: Broker, request: CreateTopicsRequest, call: Call) -> Answer:
    return broker.controller.create_topics(request)
