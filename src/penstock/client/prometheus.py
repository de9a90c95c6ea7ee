"""A collector of figures for Prometheus: the registry it is in, and a port that serves it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from penstock.client.error import ClientError

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.registry import Collector


def registry_of(collector: Collector) -> CollectorRegistry:
    """With the figures of the process beside its own."""
    from prometheus_client import CollectorRegistry, ProcessCollector

    registry = CollectorRegistry()
    registry.register(collector)
    ProcessCollector(registry=registry)
    return registry


def text_of(collector: Collector) -> str:
    """Its figures alone, in Prometheus's text format."""
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry()
    registry.register(collector)
    return generate_latest(registry).decode()


class ServeError(ClientError):
    """An address at which nothing can be served."""


@contextmanager
def opening(host: str, port: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # A name that nobody knows has a number of its own kind.
        number = error.errno or 0
        reason = os.strerror(number) if number > 0 else error.strerror
        raise ServeError(
            f"metrics cannot be served at {host}:{port}: {reason}; choose another address"
        ) from error


def serve_metrics(collector: Collector, port: int, host: str) -> Any:
    """Over HTTP, until the process ends; returns what `shutdown()` ends early."""
    from prometheus_client import start_http_server

    with opening(host, port):
        server, _ = start_http_server(port, addr=host, registry=registry_of(collector))
    return server
