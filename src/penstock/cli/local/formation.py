"""Making a cluster on this machine, at its first start, and adding nodes to it at a later one."""

from __future__ import annotations

import random
import shutil
import socket
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from penstock.cli.failure import Failure
from penstock.cli.local.layout import (
    DEFAULT_LISTEN_BASE,
    DEFAULT_NODES,
    HOST,
    LocalNode,
    NodeFiles,
    node_settings,
    plan_nodes,
    properties_text,
)
from penstock.cli.local.record import FILE, ClusterRecord, read_record, write_record
from penstock.cli.storage import format_lines, new_uuid
from penstock.storage.dir_lock import DirectoryLock
from penstock.storage.names import LOCK

_FREE_PORTS = range(15_000, 32_000)
"""Below those that systems give to outgoing connections, which would take the port of a node that
is down for a moment."""


def form_cluster(home: Path, nodes: int | None, listen_base: int | None) -> ClusterRecord:
    """The cluster that lies in `home`, with as many nodes as asked for."""
    record = read_record(home)
    if record is None:
        return _found(home, nodes or DEFAULT_NODES, listen_base)
    first = record.nodes[0].port
    if listen_base not in (None, 0, first):
        raise Failure(
            f"the nodes in {home} listen from {first} on; leave --listen-base out, or name another "
            "--data-dir"
        )
    count = len(record.nodes)
    if nodes is not None and nodes < count:
        raise Failure(
            f"{home} has {count} nodes; --nodes {nodes} would leave their replicas behind: drain "
            "and remove brokers with `penstock brokers`"
        )
    return record if nodes in (None, count) else _grow(home, record, nodes or count)


def _found(home: Path, count: int, listen_base: int | None) -> ClusterRecord:
    strange = [each.name for each in home.iterdir() if each.name != LOCK]
    if strange:
        raise Failure(f"{home} is not empty and holds no cluster; name another --data-dir")
    nodes = _free_nodes(count) if listen_base == 0 else plan_nodes(count, _base(listen_base))
    _check_free(nodes)
    voters = {each.id: new_uuid() for each in nodes if each.controller_port is not None}
    initial = ",".join(
        f"{each.id}@{each.controller_address}:{voters[each.id]}"
        for each in nodes
        if each.id in voters
    )
    record = ClusterRecord(new_uuid(), tuple(nodes))
    try:
        for node in nodes:
            _write_settings(home, node, nodes)
            _format(home, node, record.cluster_id, initial if node.id in voters else None)
        write_record(home, record)
    except BaseException:
        _clear(home)
        raise
    return record


def _grow(home: Path, record: ClusterRecord, count: int) -> ClusterRecord:
    """By brokers: who votes is changed by nobody unasked."""
    last = record.nodes[-1]
    added = [
        LocalNode(last.id + more, last.port + more, None)
        for more in range(1, count - len(record.nodes) + 1)
    ]
    taken = {port for each in record.nodes for port in each.ports}
    if any(each.port in taken for each in added):
        raise Failure(f"there are no ports for {count} nodes behind {last.port}")
    _check_free(added)
    grown = replace(record, nodes=(*record.nodes, *added))
    for node in added:
        _write_settings(home, node, list(grown.nodes))
        _format(home, node, record.cluster_id, None)
    write_record(home, grown)
    return grown


def _write_settings(home: Path, node: LocalNode, nodes: list[LocalNode]) -> None:
    files = NodeFiles(home, node.id)
    files.folder.mkdir(exist_ok=True)
    settings = node_settings(node, nodes, files.data, socket.gethostname())
    files.config.write_text(properties_text(settings), encoding="utf-8")


def _format(home: Path, node: LocalNode, cluster_id: str, initial: str | None) -> None:
    files = NodeFiles(home, node.id)
    for _ in format_lines(
        str(files.config),
        cluster_id,
        standalone=False,
        initial_controllers=initial,
        no_initial_controllers=initial is None,
        features=(),
        release=None,
        ignore_formatted=True,
    ):
        pass


def _clear(home: Path) -> None:
    """What was begun and is no cluster: nobody has written to it."""
    for folder in home.glob("node-*"):
        shutil.rmtree(folder, ignore_errors=True)
    (home / FILE).unlink(missing_ok=True)


def _base(listen_base: int | None) -> int:
    return DEFAULT_LISTEN_BASE if listen_base is None else listen_base


def _free_nodes(count: int) -> list[LocalNode]:
    """On ports that nobody has now."""
    ports = (port for port in random.sample(_FREE_PORTS, len(_FREE_PORTS)) if _fault(port) is None)
    return [
        LocalNode(each.id, next(ports), None if each.controller_port is None else next(ports))
        for each in plan_nodes(count, 1)
    ]


def _check_free(nodes: Iterable[LocalNode]) -> None:
    for port in (port for node in nodes for port in node.ports):
        if port > 65535:
            raise Failure(f"there is no port {port}; name a smaller --listen-base")
        if (fault := _fault(port)) is not None:
            raise Failure(
                f"{HOST}:{port} cannot be listened on: {fault}; name another --listen-base"
            )


def _fault(port: int) -> str | None:
    """Why nobody can listen there."""
    try:
        socket.create_server((HOST, port)).close()
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return None


def lock_home(home: Path) -> DirectoryLock:
    """Of `penstock cluster start`, for as long as it runs."""
    home.mkdir(parents=True, exist_ok=True)
    return DirectoryLock(str(home))
