"""What users' tests and our own share: a real broker per test, and simulated time.

The pytest plugin is loaded wherever Penstock is installed, so nothing is imported until used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.testing.broker import Broker, BrokerError
    from penstock.testing.clock import SimulatedClock
    from penstock.testing.cluster import Cluster
    from penstock.testing.record import Record

__all__ = ["Broker", "BrokerError", "Cluster", "Record", "SimulatedClock"]

_HOMES = {"Broker": "broker", "BrokerError": "broker", "Record": "record"}
_HOMES |= {"Cluster": "cluster", "SimulatedClock": "clock"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(name)
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
