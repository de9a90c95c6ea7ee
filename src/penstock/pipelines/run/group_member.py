"""The pipeline as a consumer group: a member that reads nothing, and commits what was read.

Spark joins no group, so no lag tool could see it, and nobody would refuse to reset its offsets.
The member is a dynamic one: it leaves when the run ends, so that the group can be reset at once. A
member that was killed holds the group for its session's 6 seconds; commits wait that long.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from penstock.client.patience import NO_COORDINATOR_YET, patiently
from penstock.pipelines.error import AlreadyRunningError, RunError
from penstock.pipelines.run_settings import RunSettings
from penstock.pipelines.silent import SILENT
from penstock.telemetry.log import get_logger

Offsets = Mapping[tuple[str, int], int]

_TIMEOUT_S = 10.0
_SESSION_MS = 6000
_POLL_S = 0.1
_PATIENCE_S = 30.0
_log = get_logger("pipelines.group_member")


class GroupMember:
    def __init__(self, group: str, topics: Iterable[str], settings: RunSettings) -> None:
        self._group = group
        self._topics = list(topics)
        self._settings = settings
        self._pending: dict[tuple[str, int], int] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._assigned = threading.Event()
        self._thread: threading.Thread | None = None
        self._consumer: Any = None

    def refuse_if_running(self) -> None:
        """Raise if a live process holds the group; one that died on this host does not count."""
        for client_id in _members(self._settings, self._group):
            host, _, pid = client_id.rpartition("@")[2].partition("/")
            here = host == socket.gethostname()
            if here and pid.isdecimal() and (int(pid) == os.getpid() or not _alive(int(pid))):
                continue
            raise AlreadyRunningError(
                f"the group {self._group} has a member ({client_id}): this pipeline runs already,"
                " or something else took its name; stop that first"
            )

    def join(self) -> None:
        self._consumer = Consumer(
            self._settings.client(
                group_id=self._group,
                client_id=f"penstock-pipeline@{socket.gethostname()}/{os.getpid()}",
                partition_assignment_strategy="range",
                session_timeout_ms=_SESSION_MS,
                heartbeat_interval_ms=_SESSION_MS // 4,
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                error_cb=lambda _: None,
            ),
            logger=SILENT,
        )
        self._consumer.subscribe(self._topics, on_assign=self._on_assign)
        self._thread = threading.Thread(target=self._run, name="group-member", daemon=True)
        self._thread.start()

    def committed(self) -> dict[tuple[str, int], int]:
        """Where the group stands, for each partition that has a committed offset."""
        return committed_offsets(self._settings, self._group, self._topics)

    def commit(self, offsets: Offsets) -> None:
        """Soon, and again until it holds; a later commit replaces an earlier one."""
        with self._lock:
            self._pending.update(offsets)

    def leave(self) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def wait_joined(self, timeout_s: float) -> bool:
        return self._assigned.wait(timeout_s)

    def _on_assign(self, consumer: Any, partitions: list[TopicPartition]) -> None:
        consumer.assign(partitions)
        if partitions:
            consumer.pause(partitions)
        self._assigned.set()

    def _run(self) -> None:
        while not self._ended.is_set():
            self._turn(_POLL_S)
        # A member in the middle of joining can neither commit nor leave: let it in first.
        deadline = time.monotonic() + _TIMEOUT_S
        while self._unsettled and time.monotonic() < deadline:
            self._turn(_POLL_S / 5)
        self._consumer.close()
        if self._pending:
            self._commit_from_outside()

    @property
    def _unsettled(self) -> bool:
        """Of topics that do not exist nobody becomes a member, however long it is waited for."""
        joining = self._consumer.memberid() and not self._assigned.is_set()
        return bool(self._pending or joining)

    def _turn(self, wait_s: float) -> None:
        try:
            self._consumer.poll(wait_s)
            if self._assigned.is_set():
                self._flush(self._consumer)
        except KafkaException as error:
            _log.debug("group member", group=self._group, error=str(error))

    def _commit_from_outside(self) -> None:
        """As tools do: for a group without members, such as one that never let this one in."""
        consumer = Consumer(
            self._settings.client(group_id=self._group, enable_auto_commit=False), logger=SILENT
        )
        self._flush(consumer)
        consumer.close()
        if self._pending:
            _log.warning("the last offsets were not committed", group=self._group)

    def _flush(self, consumer: Any) -> None:
        with self._lock:
            taken = dict(self._pending)
        if not taken:
            return
        places = [TopicPartition(*where, offset) for where, offset in taken.items()]
        try:
            consumer.commit(offsets=places, asynchronous=False)
        except KafkaException as error:
            _log.debug("offsets not committed yet", group=self._group, error=str(error))
            return
        with self._lock:
            for where, offset in taken.items():
                if self._pending.get(where) == offset:
                    del self._pending[where]


def committed_offsets(
    settings: RunSettings, group: str, topics: Iterable[str]
) -> dict[tuple[str, int], int]:
    consumer = Consumer(
        settings.client(group_id=group, enable_auto_commit=False, error_cb=lambda _: None),
        logger=SILENT,
    )
    try:
        asked = [TopicPartition(*each) for each in partitions_of(settings, topics)]
        found = patiently(
            lambda: consumer.committed(asked, timeout=_TIMEOUT_S), NO_COORDINATOR_YET, _PATIENCE_S
        )
        return {(each.topic, each.partition): each.offset for each in found if each.offset >= 0}
    except KafkaException as error:
        raise RunError(f"the broker does not tell the offsets of {group}: {error}") from error
    finally:
        consumer.close()


def partitions_of(settings: RunSettings, topics: Iterable[str]) -> list[tuple[str, int]]:
    """All partitions of these topics (a name that begins with ^ is a pattern)."""
    import re

    known = known_topics(settings)
    found: list[tuple[str, int]] = []
    for wanted in topics:
        if wanted.startswith("^"):
            names = [each for each in known if re.fullmatch(wanted[1:].rstrip("$"), each)]
        elif wanted not in known:
            raise RunError(
                f"there is no topic {wanted} at {settings.bootstrap_servers}: create it with"
                f" `penstock topics create {wanted}`, or start what writes it"
            )
        else:
            names = [wanted]
        found += [(name, each) for name in names for each in range(known[name])]
    return found


def known_topics(settings: RunSettings) -> dict[str, int]:
    admin = AdminClient(settings.client(error_cb=lambda _: None), logger=SILENT)
    try:
        listed = admin.list_topics(timeout=_TIMEOUT_S).topics
    except KafkaException as error:
        raise RunError(
            f"no broker answers at {settings.bootstrap_servers}: start one with `penstock start`,"
            " or name another with -b"
        ) from error
    return {name: len(each.partitions) for name, each in listed.items()}


def _members(settings: RunSettings, group: str) -> list[str]:
    admin = AdminClient(settings.client(error_cb=lambda _: None), logger=SILENT)

    def ask() -> list[str]:
        asked = admin.describe_consumer_groups([group], request_timeout=_TIMEOUT_S)
        return [each.client_id for each in asked[group].result().members]

    try:
        return patiently(ask, NO_COORDINATOR_YET, _PATIENCE_S)
    except KafkaException as error:
        if error.args[0].code() == KafkaError.GROUP_ID_NOT_FOUND:
            return []
        raise RunError(
            f"the broker does not tell who is in the group {group}: {error.args[0].name()}"
        ) from error


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
