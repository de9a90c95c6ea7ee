"""The APIs that a broker lists.

Clients and tools go by it to tell how old the broker is.
"""

from __future__ import annotations

import pytest

from penstock.protocol.frame import API_BY_KEY
from penstock.protocol.messages.api_versions import ApiVersionsRequest
from tests.conformance.clients.raw import Connection

BETWEEN_NODES = {
    "Vote",
    "BeginQuorumEpoch",
    "EndQuorumEpoch",
    "AlterPartition",
    "Envelope",
    "FetchSnapshot",
    "BrokerRegistration",
    "BrokerHeartbeat",
    "AllocateProducerIds",
    "ControllerRegistration",
    "AssignReplicasToDirs",
    "UpdateRaftVoter",
}
"""Of controllers, and of nobody else."""

WITHOUT_A_RECEIVER = {"GetTelemetrySubscriptions", "PushTelemetry"}
"""Listed by a broker that has a plugin to give its clients' metrics to."""


@pytest.mark.feature("The list of APIs and their versions is that of a broker of this release")
@pytest.mark.client("raw requests")
def test_the_list(connection: Connection) -> None:
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    answer = connection.call(request, 4)
    listed = {
        API_BY_KEY[one.api_key].name: (one.min_version, one.max_version) for one in answer.api_keys
    }
    assert listed == {
        spec.name: (spec.advertised_min_version, spec.max_stable_version)
        for spec in API_BY_KEY.values()
        if spec.name not in BETWEEN_NODES | WITHOUT_A_RECEIVER
    }
