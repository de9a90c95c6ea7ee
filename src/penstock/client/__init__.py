"""Three calls for applications: `produce`, `consume`, `commit_offset`.

Values are JSON. The calls speak to any Kafka-compatible cluster, named by the argument
`bootstrap_servers`, by the variable PENSTOCK_BOOTSTRAP_SERVERS, or 127.0.0.1:9092.
"""

from penstock.client.consumer import commit_offset, consume
from penstock.client.error import (
    ClientError,
    CommitError,
    ConsumeError,
    DecodeError,
    DeliveryError,
)
from penstock.client.producer import produce
from penstock.client.record import Delivery, Message
from penstock.client.session import close

__all__ = [
    "ClientError",
    "CommitError",
    "ConsumeError",
    "DecodeError",
    "Delivery",
    "DeliveryError",
    "Message",
    "close",
    "commit_offset",
    "consume",
    "produce",
]
