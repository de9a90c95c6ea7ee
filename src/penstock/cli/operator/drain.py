"""Taking a broker out of service: its replicas go elsewhere, then it is unregistered."""

from __future__ import annotations

import time
from collections.abc import Iterable

from penstock.cli.failure import Failure
from penstock.cli.operator.broker_view import known_quorum
from penstock.cli.operator.confirm import confirm
from penstock.cli.operator.link import Link, check
from penstock.cli.operator.move_run import clean_throttles
from penstock.cli.operator.mover import Mover
from penstock.cli.operator.plan import Move, plan_drain
from penstock.cli.operator.reader import read_state, with_disks
from penstock.cli.operator.reassignment import cancel_moves, moves_under_way
from penstock.cli.operator.setting import Change, alter_settings, own_broker_setting
from penstock.cli.operator.shell import NodeCommand
from penstock.cli.operator.state import BrokerNode
from penstock.cli.operator.status_line import StatusLine
from penstock.cli.output import note, print_line
from penstock.protocol.messages.unregister_broker import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)

CORDONED = "cordoned.log.dirs"
_POLL_S = 1.0


def check_known(brokers: Iterable[int], broker: int) -> None:
    known = sorted(brokers)
    if broker not in known:
        raise Failure(f"there is no broker {broker}; there are {', '.join(map(str, known))}")


class _Cordon:
    """So that new topics do not come to a broker while it is emptied (KIP-1066, Kafka 4.3)."""

    def __init__(self, link: Link, node: BrokerNode) -> None:
        self._link = link
        self._node = node
        self._before: str | None = None
        self._is_set = False

    def set(self) -> None:
        node = self._node
        if node.fenced or node.cordoned:
            return
        try:
            self._before = own_broker_setting(self._link, node.id, CORDONED)
            alter_settings(self._link, [Change(node.id, CORDONED, "*")])
            self._is_set = True
        except Failure:
            note(
                f"this cluster cannot keep new topics off broker {node.id}; run this again at the "
                "end"
            )

    def undo(self) -> None:
        """As it was before, where it was set here."""
        if not self._is_set:
            return
        try:
            alter_settings(self._link, [Change(self._node.id, CORDONED, self._before)])
        except Failure as failure:
            note(
                f"broker {self._node.id} still takes no new replicas ({failure}); "
                f"`penstock brokers drain {self._node.id} --cancel` changes that"
            )


def drain(mover: Mover, broker: int, *, yes: bool, dry_run: bool, wait: bool) -> None:
    check_known(mover.state.brokers, broker)
    moves = plan_drain(mover.state, broker)
    planned = {each.place for each in moves}
    under_way = [
        each
        for each in moves_under_way(mover.state)
        if broker in each.removing and each.place not in planned
    ]
    cordon = _Cordon(mover.link, mover.state.brokers[broker])

    def close() -> list[Move]:
        """What came between the plan and the cordon goes with the rest."""
        cordon.set()
        state = with_disks(read_state(mover.link), mover.disks)
        return [each for each in plan_drain(state, broker) if each.place not in planned]

    try:
        mover.run(moves, under_way, yes=yes, dry_run=dry_run, wait=wait, before=close)
    except Failure:
        cordon.undo()
        raise


def cancel_drain(mover: Mover, broker: int) -> None:
    check_known(mover.state.brokers, broker)
    moving = [each.place for each in moves_under_way(mover.state) if broker in each.removing]
    if moving:
        cancel_moves(mover.link, moving)
        clean_throttles(mover.link)
    alter_settings(mover.link, [Change(broker, CORDONED, None)])
    mover.say_cancelled(broker, moving)


def unregister(link: Link, broker: int, stop: str | None, *, yes: bool) -> None:
    """Only a broker that is down: one that runs would go on as if it still belonged."""
    node = read_state(link).brokers.get(broker)
    if node is None:
        print_line(f"broker {broker} is not registered any more")
        return
    quorum = known_quorum(link)
    if quorum is not None and broker in {each.id for each in quorum.voters}:
        note(
            f"node {broker} is also a voter of the controllers' quorum and stays one; "
            "kafka-metadata-quorum remove-controller takes it out"
        )
    if not node.fenced:
        if stop is not None:
            confirm(f"Stop broker {broker}?", yes=yes)
            NodeCommand(stop, broker, node.host, node.port).wait()
        _wait_stopped(link, node)
    answer = link.call(UnregisterBrokerRequest(broker_id=broker), UnregisterBrokerResponse)
    check(answer.error_code, answer.error_message, f"broker {broker}")
    print_line(f"removed broker {broker}")


def _wait_stopped(link: Link, node: BrokerNode) -> None:
    status = StatusLine()
    try:
        while True:
            try:
                now = read_state(link).brokers.get(node.id)
                if now is None or now.fenced:
                    return
                status.show("stop", f"broker {node.id} is empty; waiting until it is stopped")
            except Failure as failure:
                status.show("failure", f"waiting: {failure}")
            time.sleep(_POLL_S)
    except KeyboardInterrupt:
        status.clear()
        note(
            f"broker {node.id} is drained and still registered; stop it, "
            f"then `penstock brokers remove {node.id}` again"
        )
        raise
    finally:
        status.clear()
