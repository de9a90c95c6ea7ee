"""`penstock cluster start|status|kill|stop|restart`: what is typed, and what is printed."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.argument import INT_MAX, Json, PlainTyper
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.help import PlainCommand
from penstock.cli.local.layout import (
    DEFAULT_DIR,
    DEFAULT_LISTEN_BASE,
    DEFAULT_NODES,
    NODES_MAX,
)
from penstock.cli.output import print_json, print_line, print_table

if TYPE_CHECKING:
    from penstock.cli.local.record import ClusterRecord

PORT_MAX = 65535

DataDir = Annotated[
    str, typer.Option("--data-dir", metavar="DIR", help="Folder of the cluster's nodes.")
]
NodeIds = Annotated[
    list[int],
    typer.Argument(metavar="NODE", min=0, max=INT_MAX, show_default=False, help="Id of the node."),
]


def start_command(
    nodes: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=NODES_MAX,
            metavar="N",
            show_default=f"{DEFAULT_NODES}, or as many as there are",
            help="How many nodes.",
        ),
    ] = None,
    data_dir: DataDir = DEFAULT_DIR,
    listen_base: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=PORT_MAX,
            metavar="PORT",
            show_default=str(DEFAULT_LISTEN_BASE),
            help="Port of the first node; the others follow, controllers a hundred above. "
            "0 takes ports that are free.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of all nodes."),
    ] = None,
) -> int:
    """Run a cluster on this machine until Ctrl-C.

    Each node is a process of its own. The first start makes the nodes' folders; later ones go on
    with what is there. More --nodes than before adds brokers.
    """
    from penstock.cli.local.formation import form_cluster, lock_home
    from penstock.cli.local.record import read_record
    from penstock.cli.local.runner import Runner
    from penstock.model.error import PenstockError
    from penstock.storage.dir_lock import DirectoryInUse

    for each in settings or ():
        if "=" not in each:
            raise UsageFailure(f"--set takes KEY=VALUE, not {each!r}")
    home = Path(data_dir).resolve()
    try:
        lock = lock_home(home)
    except DirectoryInUse as error:
        raise Failure(
            f"a cluster runs in {home} already; see `penstock cluster status`, or name another "
            "--data-dir"
        ) from error
    try:
        _refuse_left_over(home, read_record(home))
        return Runner(home, form_cluster(home, nodes, listen_base), settings or ()).run()
    except PenstockError as error:
        raise Failure(str(error)) from error
    finally:
        lock.release()


def _refuse_left_over(home: Path, record: ClusterRecord | None) -> None:
    if record is None:
        return
    left = [each.id for each in record.nodes if record.process(each.id) is not None]
    if left:
        names = " ".join(map(str, left))
        raise Failure(
            f"node {names} of an earlier start still runs, and nobody watches it; end it with "
            f"`penstock cluster stop {names} --data-dir {home}`"
        )


def status_command(data_dir: DataDir = DEFAULT_DIR, as_json: Json = False) -> None:
    """Show the nodes of a cluster on this machine: which are up, who leads."""
    from penstock.cli.local.action import running_record
    from penstock.cli.local.status import read_status

    home = Path(data_dir).resolve()
    status = read_status(home, running_record(home))
    if as_json:
        print_json(status.document())
        return
    runner = "nobody" if status.runner is None else f"process {status.runner}"
    for label, value in (
        ("cluster", status.cluster_id),
        ("run by", runner),
        ("controller", "-" if status.controller is None else f"node {status.controller}"),
        ("brokers", status.bootstrap_servers),
        ("state", "; ".join(status.faults) or "all in sync"),
    ):
        print_line(f"{label:<11} {value}")
    print_line("")
    columns = ("node", "address", "roles", "state", "process", "leads")
    print_table(
        columns,
        [
            (each.id, each.address, each.roles, each.state, each.pid, each.leads)
            for each in status.nodes
        ],
    )


def _known(record: ClusterRecord, nodes: list[int]) -> list[int]:
    """All of them, or nothing is done."""
    return [record.node(each).id for each in dict.fromkeys(nodes)]


def kill_command(nodes: NodeIds, data_dir: DataDir = DEFAULT_DIR) -> None:
    """Kill nodes, as a power failure would (SIGKILL)."""
    from penstock.cli.local.action import kill_node, running_record

    record = running_record(Path(data_dir).resolve())
    for node in _known(record, nodes):
        print_line(f"node {node} killed (process {kill_node(record, node).pid})")


def stop_command(nodes: NodeIds, data_dir: DataDir = DEFAULT_DIR) -> None:
    """Stop nodes cleanly, one after the other: others lead before a node goes."""
    from penstock.cli.local.action import running_record, stop_node

    record = running_record(Path(data_dir).resolve())
    for node in _known(record, nodes):
        began_s = time.monotonic()
        stop_node(record, node)
        print_line(f"node {node} stopped in {time.monotonic() - began_s:.1f} s")
        sys.stdout.flush()


def restart_command(nodes: NodeIds, data_dir: DataDir = DEFAULT_DIR) -> None:
    """Start nodes again, after stopping those that run."""
    from penstock.cli.local.action import restart_node, running_record

    home = Path(data_dir).resolve()
    record = running_record(home)
    for node in _known(record, nodes):
        took_s = restart_node(home, node)
        print_line(f"node {node} ready on {record.node(node).address} in {took_s:.1f} s")
        sys.stdout.flush()


def add_to(app: PlainTyper) -> None:
    for name, command in (
        ("start", start_command),
        ("status", status_command),
        ("kill", kill_command),
        ("stop", stop_command),
        ("restart", restart_command),
    ):
        app.command(name, cls=PlainCommand)(command)
