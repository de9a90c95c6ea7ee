"""Runs one node in this process until it is told to stop."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from penstock.node.address import Address, parse_address
from penstock.node.descriptor import raise_limit
from penstock.node.endpoint import advertised_of, data_dir_of, listener_of
from penstock.node.node import Node, NodeOptions
from penstock.settings.config import BrokerConfig
from penstock.telemetry.clock import SystemClock
from penstock.telemetry.log import configure, get_logger

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
    options = _options(config, listen, advertise, data_dir, metrics)
    if pid_file is not None:
        _write_file(pid_file, f"{os.getpid()}\n")

    def announce(node: Node) -> None:
        _announce(node, time.monotonic() - started)
        _signal_ready(node, ready_fd, ready_file)

    try:
        return _runner()(_serve(Node(config, options, SystemClock()), announce))
    finally:
        for path in (pid_file, ready_file):
            if path is not None:
                Path(path).unlink(missing_ok=True)


def _runner() -> Callable[[Coroutine[Any, Any, int]], int]:
    try:
        import uvloop
    except ImportError:
        return asyncio.run
    runner: Callable[[Coroutine[Any, Any, int]], int] = uvloop.run
    return runner


async def _serve(node: Node, announce: Callable[[Node], None]) -> int:
    """The exit code: 0 after a stop that was asked for, 1 when the disk failed."""
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    await node.start()
    announce(node)
    failing = asyncio.create_task(node.wait_offline())
    failing.add_done_callback(lambda _: stopping.set())
    await stopping.wait()
    failing.cancel()
    log.info("stopping")
    await node.stop()
    if node.log_dir.offline is not None:
        log.error("stopped: the data directory failed", reason=node.log_dir.offline)
        return 1
    log.info("stopped")
    return 0


def _options(
    config: BrokerConfig,
    listen: str | None,
    advertise: str | None,
    data_dir: str | None,
    metrics: str | None,
) -> NodeOptions:
    listen = listen or listener_of(config) or DEFAULT_LISTEN
    advertise = advertise or advertised_of(config)
    data_dir = data_dir or data_dir_of(config) or DEFAULT_DATA_DIR
    return NodeOptions(
        listen=parse_address(listen, "--listen"),
        advertise=None if advertise is None else parse_address(advertise, "--advertise"),
        data_dir=data_dir,
        metrics=None if metrics is None else parse_address(metrics, "--metrics"),
    )


def _announce(node: Node, took_s: float) -> None:
    metrics = "" if node.metrics_address is None else f", metrics {node.metrics_address}"
    print(  # noqa: T201
        f"penstock ready on {node.listen_address} (node {node.identity.node_id}, "
        f"cluster {node.identity.cluster_id}, data {node.log_dir.path}{metrics}) "
        f"in {took_s:.2f} s",
        flush=True,
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
    temporary = Path(f"{path}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
