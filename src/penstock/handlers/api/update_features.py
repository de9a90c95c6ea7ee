"""UpdateFeatures: asked of the controller, answered when its records are committed."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.protocol.messages.update_features import UpdateFeaturesRequest


def handle(broker: Broker, request: UpdateFeaturesRequest, call: Call) -> Answer:
    return broker.controller.update_features(request, call.version)
