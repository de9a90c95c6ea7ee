"""What a streams group tells its members beside their tasks."""

from __future__ import annotations

from enum import IntEnum

from penstock.protocol.messages.streams_group_heartbeat import Status


class StatusCode(IntEnum):
    STALE_TOPOLOGY = 0
    MISSING_SOURCE_TOPICS = 1
    INCORRECTLY_PARTITIONED_TOPICS = 2
    MISSING_INTERNAL_TOPICS = 3
    SHUTDOWN_APPLICATION = 4
    ASSIGNMENT_DELAYED = 5


class TopicProblem(Exception):
    """The cluster's topics do not let the application run, for now."""

    def __init__(self, code: StatusCode, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


def status(code: StatusCode, detail: str) -> Status:
    return Status(status_code=code, status_detail=detail)
