"""For applications: `produce`, `consume`, `commit_offset`, `Sender`, and consumers as functions.

Values are JSON. All of it speaks to any Kafka-compatible cluster, named by the argument
`bootstrap_servers`, by the variable PENSTOCK_BOOTSTRAP_SERVERS, or 127.0.0.1:9092.

Nothing is imported until it is used: a program that only produces need not load the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.client.app.app import App
    from penstock.client.app.declaration import DeadLetters
    from penstock.client.app.retry import Retry
    from penstock.client.claim.check import ClaimCheck
    from penstock.client.consumer import commit_offset, consume
    from penstock.client.error import (
        ClientError,
        CommitError,
        ConsumeError,
        DeclarationError,
        DecodeError,
        DeliveryError,
        PoisonError,
        RequestError,
        RequestTimeoutError,
        TransientError,
    )
    from penstock.client.producer import produce
    from penstock.client.record import Delivery, Message, Outgoing, Spooled
    from penstock.client.sender.policy import Block, Fail, Spool
    from penstock.client.sender.sender import Sender
    from penstock.client.session import close

__all__ = [
    "App",
    "Block",
    "ClaimCheck",
    "ClientError",
    "CommitError",
    "ConsumeError",
    "DeadLetters",
    "DeclarationError",
    "DecodeError",
    "Delivery",
    "DeliveryError",
    "Fail",
    "Message",
    "Outgoing",
    "PoisonError",
    "RequestError",
    "RequestTimeoutError",
    "Retry",
    "Sender",
    "Spool",
    "Spooled",
    "TransientError",
    "close",
    "commit_offset",
    "consume",
    "produce",
]

_HOMES = {
    "App": "app.app",
    "DeadLetters": "app.declaration",
    "Retry": "app.retry",
    "ClaimCheck": "claim.check",
    "Delivery": "record",
    "Message": "record",
    "Outgoing": "record",
    "Spooled": "record",
    "Block": "sender.policy",
    "Fail": "sender.policy",
    "Spool": "sender.policy",
    "Sender": "sender.sender",
    "close": "session",
    "commit_offset": "consumer",
    "consume": "consumer",
    "produce": "producer",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    from importlib import import_module

    home = _HOMES.get(name, "error")
    return getattr(import_module(f"{__name__}.{home}"), name)
