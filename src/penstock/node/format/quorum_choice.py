"""Who votes first in a new cluster: nobody yet, this node alone, those that were named, or those
that the settings fix."""

from __future__ import annotations

from collections.abc import Callable

from penstock.node.address import Address
from penstock.node.cluster_config import ClusterConfig
from penstock.node.format.error import FormatError
from penstock.node.format.formatter import random_id
from penstock.node.format.voter import InitialVoter, parse_initial_voters
from penstock.node.quorum_config import BOOTSTRAP_SERVERS, VOTERS

_OPTIONS = "--standalone, --initial-controllers, or --no-initial-controllers"


def choose_voters(
    cluster: ClusterConfig,
    *,
    standalone: bool,
    initial: str | None,
    nobody: bool,
    new_id: Callable[[], bytes],
) -> tuple[InitialVoter, ...]:
    if standalone + (initial is not None) + nobody > 1:
        raise FormatError(f"give only one of {_OPTIONS}")
    if cluster.voters and (standalone or initial is not None):
        raise FormatError(
            f"You cannot specify {VOTERS} and format the node with --initial-controllers or "
            f"--standalone: remove {VOTERS} and set {BOOTSTRAP_SERVERS}, or remove the option"
        )
    if standalone:
        return (_standalone(cluster, new_id),)
    if initial is not None:
        return parse_initial_voters(initial)
    if cluster.names_quorum and cluster.is_controller and not cluster.voters and not nobody:
        raise FormatError(
            f"Because {VOTERS} is not set on this controller, you must specify one of the "
            f"following: {_OPTIONS}."
        )
    return ()


def _standalone(cluster: ClusterConfig, new_id: Callable[[], bytes]) -> InitialVoter:
    if not cluster.is_controller:
        raise FormatError("You can only use --standalone on a controller.")
    own = cluster.of_controllers(cluster.advertised)
    if not own:
        raise FormatError(
            "--standalone: no listener is a controller's; add CONTROLLER://HOST:PORT to listeners"
        )
    if not own[0].port:
        raise FormatError(
            f"--standalone: {own[0].name} has port 0, which others cannot be told; name its port"
        )
    address: Address = own[0].told_address("localhost", own[0].port)
    return InitialVoter(cluster.node_id, address, random_id(new_id))
