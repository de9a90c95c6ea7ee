"""What the client raises.

ClientError
├── DeliveryError  a record was not acknowledged
├── ConsumeError   the topics could not be read
│   └── DecodeError  one record's value is not JSON; the next call goes on behind it
└── CommitError    an offset was not committed
"""

from __future__ import annotations


class ClientError(Exception):
    pass


class DeliveryError(ClientError):
    pass


class ConsumeError(ClientError):
    pass


class DecodeError(ConsumeError):
    def __init__(self, topic: str, partition: int, offset: int, value: bytes) -> None:
        super().__init__(f"the record at {topic}-{partition} offset {offset} is not JSON")
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.value = value


class CommitError(ClientError):
    pass
