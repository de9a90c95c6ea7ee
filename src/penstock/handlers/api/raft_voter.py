"""AddRaftVoter and RemoveRaftVoter at a broker: the leader of the quorum answers."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.protocol.messages.add_raft_voter import AddRaftVoterRequest
from penstock.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest


def handle(
    broker: Broker, request: AddRaftVoterRequest | RemoveRaftVoterRequest, call: Call
) -> Answer:
    if broker.controller.is_active:
        return broker.quorum.answer(request, call.client.listener)
    return broker.controller.forward(request, call)
