"""What the client raises, and what handlers of an application raise.

ClientError
├── DeliveryError     a record was not acknowledged
├── ConsumeError      the topics could not be read
│   └── DecodeError   one record's value is not what it should be; the message says which record
├── CommitError       an offset was not committed
├── RequestError      a request over topics was not answered: the message says why
│   └── RequestTimeoutError  in time
├── DeclarationError  an application is declared in a way that cannot run
├── PoisonError       this record will never work: to the dead letters with it
└── TransientError    it may work later: try again

The last two are raised by a user's own functions.
"""

from __future__ import annotations


class ClientError(Exception):
    pass


class DeliveryError(ClientError):
    pass


class ConsumeError(ClientError):
    pass


class DecodeError(ConsumeError):
    def __init__(
        self, topic: str, partition: int, offset: int, value: bytes, reason: str = "is not JSON"
    ) -> None:
        super().__init__(f"the record at {topic}-{partition} offset {offset} {reason}")
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.value = value


class CommitError(ClientError):
    pass


class RequestError(ClientError):
    pass


class RequestTimeoutError(RequestError, TimeoutError):
    """Also a TimeoutError: a handler that it ends is tried again."""


class DeclarationError(ClientError):
    pass


class PoisonError(ClientError):
    pass


class TransientError(ClientError):
    pass
