"""Fetch: of consumers, and of brokers that follow a leader here."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.fetch import Fetch
from penstock.handlers.metered_fetch import MeteredFetch
from penstock.handlers.replica_fetch import ReplicaFetch, replica_of
from penstock.model.error import ApiError
from penstock.protocol.messages.fetch import FetchRequest, FetchResponse


def handle(broker: Broker, request: FetchRequest, call: Call) -> Answer:
    try:
        context = broker.fetch_sessions.begin(request, call.version, broker.clock.monotonic())
    except ApiError as error:
        return FetchResponse(error_code=error.code)
    replica = replica_of(request, call.version)
    if replica is not None:
        fetch: Fetch = ReplicaFetch(broker, request, call, context, replica)
    elif broker.throttle.is_on:
        fetch = MeteredFetch(broker, request, call, context)
    else:
        fetch = Fetch(broker, request, call, context)
    fetch.read()
    if fetch.is_answerable or request.max_wait_ms <= 0:
        return fetch.answer()
    return fetch.wait_data(request.max_wait_ms / 1000)
