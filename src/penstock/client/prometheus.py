"""A collector of figures for Prometheus: the registry it is in, and a port that serves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


def serve_metrics(collector: Collector, port: int, host: str) -> Any:
    """Over HTTP, until the process ends; returns what `shutdown()` ends early."""
    from prometheus_client import start_http_server

    server, _ = start_http_server(port, addr=host, registry=registry_of(collector))
    return server
