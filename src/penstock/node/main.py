"""Runs one node in this process until it is told to stop."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import Any, NoReturn

from penstock.controller.policy import check_policies
from penstock.node.address import EVERY_INTERFACE, Address, AddressError, parse_address
from penstock.node.cluster_config import ClusterConfig, cluster_config
from penstock.node.descriptor import raise_limit
from penstock.node.listener_config import ListenerEndpoint
from penstock.node.node import Node
from penstock.node.options import NodeOptions
from penstock.node.quorum import QuorumError, check_place
from penstock.settings.config import BrokerConfig
from penstock.settings.cordon import check_cordoned
from penstock.telemetry.clock import SystemClock
from penstock.telemetry.log import configure, get_logger, json_line

DEFAULT_LISTEN = "127.0.0.1:9092"
DEFAULT_DATA_DIR = "./penstock-data"

log = get_logger("node")


def run(
    config: BrokerConfig,
    *,
    listen: str | None = None,
    advertise: str | None = None,
    data_dir: str | None = None,
    metrics: str | None = None,
    ready_fd: int | None = None,
    ready_file: str | None = None,
    pid_file: str | None = None,
    log_format: str = "text",
    log_level: str = "info",
) -> int:
    started = time.monotonic()
    configure(log_format, log_level)
    raise_limit()
    options = settled_options(config, listen, advertise, data_dir, metrics)

    def announce(node: Node) -> None:
        line = _ready_event if log_format == "json" else _ready_line
        print(line(node, time.monotonic() - started), flush=True)  # noqa: T201
        _signal_ready(node, ready_fd, ready_file)

    def withdraw() -> None:
        for path in (pid_file, ready_file):
            if path is not None:
                with suppress(FileNotFoundError):
                    os.unlink(path)  # noqa: PTH108 - see below

    def leave() -> NoReturn:
        withdraw()
        logging.shutdown()
        os._exit(1)

    try:
        return _runner()(_serve(Node(config, options, SystemClock()), announce, leave, pid_file))
    finally:
        withdraw()


def _runner() -> Callable[[Coroutine[Any, Any, int]], int]:
    try:
        import uvloop
    except ImportError:
        return asyncio.run
    runner: Callable[[Coroutine[Any, Any, int]], int] = uvloop.run
    return runner


async def _serve(
    node: Node,
    announce: Callable[[Node], None],
    leave: Callable[[], NoReturn],
    pid_file: str | None = None,
) -> int:
    """The exit code: 0 after a stop that was asked for, 1 when the disk failed. `leave` is for a
    stop that hangs: it ends the process at once, with whatever thread or task is left in it."""
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()

    def on_signal() -> None:
        if stopping.is_set():
            node.hasten()
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)
    # Not before: from here on, whatever ends the process takes the file away again.
    if pid_file is not None:
        _write_file(pid_file, f"{os.getpid()}\n")
    if not await _start_unless(stopping, node):
        log.info("stopped before it was ready")
        return 0
    announce(node)
    failing = asyncio.create_task(node.wait_offline())
    failing.add_done_callback(lambda _: stopping.set())
    await stopping.wait()
    failing.cancel()
    log.info("stopping")
    if not await node.stop():
        log.error("stopped: not all parts ended, the next start recovers the data directory")
        leave()
    if node.ended_by is not None:
        log.error("stopped: the data directory failed", reason=node.ended_by)
        return 1
    log.info("stopped")
    return 0


async def _start_unless(stopping: asyncio.Event, node: Node) -> bool:
    """Whether the node is up; it is given up when the signal to stop comes first."""
    starting = asyncio.create_task(node.start())
    signalled = asyncio.create_task(stopping.wait())
    await asyncio.wait((starting, signalled), return_when=asyncio.FIRST_COMPLETED)
    signalled.cancel()
    if not starting.done():
        starting.cancel()
        await asyncio.wait((starting,))
    if starting.cancelled():
        return False
    starting.result()
    return True


def settled_options(
    config: BrokerConfig,
    listen: str | None,
    advertise: str | None,
    data_dir: str | None,
    metrics: str | None,
) -> NodeOptions:
    """The command line wins, but excuses nothing: a file that asks for what is not there is refused
    all the same."""
    cluster = _with_directories(cluster_config(config), config, data_dir)
    check_place(cluster, config)
    if cluster.is_broker:
        check_cordoned(cluster.data_dirs, config.cordoned_log_dirs)
    check_policies(config)
    scraped = None if metrics is None else parse_address(metrics, "--metrics")
    if cluster.names_quorum or len(cluster.roles) == 1:
        for option, value in (("--listen", listen), ("--advertise", advertise)):
            if value is not None:
                raise QuorumError(
                    f"{option} is for a node alone: a node of a cluster has its listeners in its "
                    "settings"
                )
        bound = cluster.listeners[0].bind_address
        return NodeOptions(
            bound, None, cluster.data_dirs, scraped, cluster, metadata_dir=cluster.metadata_dir
        )
    own = _own_listeners(cluster, config, listen)
    told = _told_listeners(cluster, config, advertise, own)
    return NodeOptions(
        listen=own[0].bind_address,
        advertise=None,
        data_dirs=cluster.data_dirs,
        metrics=scraped,
        metadata_dir=cluster.metadata_dir,
        own=own,
        told=told,
    )


def _with_directories(
    cluster: ClusterConfig, config: BrokerConfig, data_dir: str | None
) -> ClusterConfig:
    """Those of the settings, unless the command line names one."""
    if data_dir is None and (config.is_set("log.dirs") or config.is_set("log.dir")):
        return cluster
    used = (data_dir or DEFAULT_DATA_DIR).rstrip("/") or "/"
    metadata_dir = cluster.metadata_dir if config.is_set("metadata.log.dir") else used
    return replace(cluster, data_dirs=(used,), metadata_dir=metadata_dir)


def _own_listeners(
    cluster: ClusterConfig, config: BrokerConfig, listen: str | None
) -> tuple[ListenerEndpoint, ...]:
    """Where a node alone listens for clients."""
    found = cluster.of_brokers(cluster.listeners)
    if listen is None and config.is_set("listeners"):
        return found
    return _moved(found, parse_address(listen or DEFAULT_LISTEN, "--listen"), "--listen")


def _told_listeners(
    cluster: ClusterConfig,
    config: BrokerConfig,
    advertise: str | None,
    own: tuple[ListenerEndpoint, ...],
) -> tuple[ListenerEndpoint, ...]:
    """What it tells them of where it is."""
    found = cluster.of_brokers(cluster.advertised)
    if advertise is not None:
        return _moved(found, _advertised(advertise), "--advertise")
    return found if config.is_set("advertised.listeners") else own


def _moved(
    found: tuple[ListenerEndpoint, ...], address: Address, option: str
) -> tuple[ListenerEndpoint, ...]:
    if len(found) > 1:
        names = ", ".join(each.name for each in found)
        raise QuorumError(
            f"{option} is for one listener, and the settings name {names}: put the addresses there"
        )
    return (found[0]._replace(host=address.host, port=address.port),)


def _advertised(text: str) -> Address:
    address = parse_address(text, "--advertise")
    if address.host in EVERY_INTERFACE:
        raise AddressError(f"--advertise {text!r}: no client can connect to {address.host}")
    return address


def _ready_line(node: Node, took_s: float) -> str:
    metrics = "" if node.metrics_address is None else f", metrics {node.metrics_address}"
    return (
        f"penstock ready on {node.listen_address} (node {node.identity.node_id}, "
        f"cluster {node.identity.cluster_id}, data {_data(node)}{metrics}) "
        f"in {took_s:.2f} s"
    )


def _data(node: Node) -> str:
    return ",".join(each.path for each in node.log_dirs.data)


def _ready_event(node: Node, took_s: float) -> str:
    return json_line(
        "node",
        "info",
        "ready",
        listen=str(node.listen_address),
        node=node.identity.node_id,
        cluster=node.identity.cluster_id,
        data=_data(node),
        metrics=_text(node.metrics_address),
        took_s=round(took_s, 2),
    )


def _signal_ready(node: Node, ready_fd: int | None, ready_file: str | None) -> None:
    line = json.dumps(
        {
            "pid": os.getpid(),
            "listen": str(node.listen_address),
            "metrics": _text(node.metrics_address),
        }
    )
    if ready_file is not None:
        _write_file(ready_file, line + "\n")
    if ready_fd is not None:
        os.write(ready_fd, line.encode() + b"\n")
        os.close(ready_fd)


def _text(address: Address | None) -> str | None:
    return None if address is None else str(address)


def _write_file(path: str, text: str) -> None:
    """Whole or not at all: whoever waits for the file reads it at once."""
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
    # Not by pathlib: with what it loads, it takes half a megabyte of every node.
    os.replace(temporary, path)  # noqa: PTH105
