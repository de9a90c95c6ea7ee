"""The relay: sends what is in an outbox, in order per key, each event once.

Several relays may run for one outbox. Each shard is sent by one of them at a time, the others stand
by; a shard whose relay dies is free when its lease ends, at once if the relay was stopped. Whatever
goes wrong, database or broker, ends the work on that shard and begins it anew: claim, take the
transactional id over, ask whether the last batch was sent, go on.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Mapping
from contextlib import closing, suppress
from typing import Any

from confluent_kafka import KafkaException

from penstock.client.database import OwnDatabase, open_database
from penstock.client.error import ClientError
from penstock.client.outbox.lookout import Lookout
from penstock.client.outbox.patience import Patience
from penstock.client.outbox.progress import ProgressCount, RelayProgress
from penstock.client.outbox.replication import Replication
from penstock.client.outbox.sender import DefectiveEventError, ShardSender
from penstock.client.outbox.shard import (
    Backlog,
    Batch,
    Claim,
    ShardStore,
    count_shards,
    read_backlog,
)
from penstock.client.session import bootstrap_of

_LOG = logging.getLogger("penstock.outbox")
_BACKOFF_S = 0.5
_BACKOFF_MAX_S = 10.0
_STAND_BY_S = 1.0


class Relay:
    """Runs in threads of its own, one a shard, from `start` to `stop`."""

    def __init__(
        self,
        database: str,
        bootstrap_servers: str | None = None,
        *,
        kafka: Mapping[str, Any] | None = None,
        batch_events_max: int = 1000,
        poll_s: float = 0.05,
        replication: bool = False,
        lease_s: float = 10.0,
    ) -> None:
        """`kafka` are settings of librdkafka, such as those for TLS, logins and `partitioner`. With
        `replication`, PostgreSQL tells of new events, and nobody looks for them every `poll_s`."""
        self._url = database
        self._kafka = {"bootstrap.servers": bootstrap_of(bootstrap_servers), **(kafka or {})}
        self._limit, self._poll_s, self._lease_s = batch_events_max, poll_s, lease_s
        self._replication = Replication(database) if replication else None
        self._stopping = threading.Event()
        self._count = ProgressCount()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Raises what the database says if there is no outbox in it."""
        with closing(open_database(self._url, make=False)) as database:
            shards = count_shards(database)
        if self._replication is not None:
            self._replication.start()
        for number in range(shards):
            thread = threading.Thread(target=self._run, name=f"outbox-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Finish the batches under way and give the shards back."""
        self._stopping.set()
        if self._replication is not None:
            self._replication.stop()
        for thread in self._threads:
            thread.join()
        self._threads.clear()

    def __enter__(self) -> Relay:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def progress(self) -> RelayProgress:
        return self._count.read()

    def backlog(self) -> Backlog:
        with closing(open_database(self._url)) as database:
            return read_backlog(database)

    def _run(self) -> None:
        owner, backoff_s = uuid.uuid4().hex, _BACKOFF_S
        while not self._stopping.is_set():
            before = self._count.read().sent
            error = self._try(owner)
            if error is None:
                continue
            if self._count.read().sent > before:
                backoff_s = _BACKOFF_S
            self._count.failed(error)
            _LOG.warning("outbox: %s; again in %.1f s", error, backoff_s)
            self._stopping.wait(backoff_s)
            backoff_s = min(2 * backoff_s, _BACKOFF_MAX_S)

    def _try(self, owner: str) -> str | None:
        """Work until there is a reason to begin anew: what went wrong, or None."""
        database: OwnDatabase | None = None
        try:
            database = open_database(self._url)
            self._serve(ShardStore(database, owner, int(self._lease_s * 1000)))
            return None
        except KafkaException as error:
            return f"Kafka: {error.args[0].str() if error.args else error}"
        except ClientError as error:
            return str(error)
        except Exception as error:
            if database is not None and not isinstance(error, database.errors):
                _LOG.exception("outbox: unexpected")
            return f"{type(error).__name__}: {str(error).strip()}"
        finally:
            if database is not None:
                with suppress(*database.errors):
                    database.close()

    def _serve(self, store: ShardStore) -> None:
        claim = store.claim()
        if claim is None:
            self._stopping.wait(_STAND_BY_S)
            return
        self._count.claimed(1)
        try:
            patience = Patience(self._stopping)
            with closing(ShardSender(self._kafka, claim.transactional_id, patience)) as sender:
                self._send_all(store, claim, sender)
        finally:
            self._count.claimed(-1)
            if self._stopping.is_set():
                store.release(claim)

    def _send_all(self, store: ShardStore, claim: Claim, sender: ShardSender) -> None:
        sent = self._finish_pending(store, claim, sender)
        lookout = Lookout(self._replication, self._poll_s, self._stopping)
        while not self._stopping.is_set():
            lookout.look()
            if sent is None and not store.waiting(claim):
                lookout.wait()
                continue
            batch = store.advance(claim, sent, self._limit)
            sent = None if batch is None else self._send(store, claim, sender, batch)
        store.advance(claim, sent, 0)

    def _finish_pending(self, store: ShardStore, claim: Claim, sender: ShardSender) -> Batch | None:
        """What the last owner had noted, now sent if it was not before."""
        pending = claim.pending
        if pending is None or sender.was_sent(pending):
            return pending
        return self._send(store, claim, sender, pending)

    def _send(
        self, store: ShardStore, claim: Claim, sender: ShardSender, batch: Batch
    ) -> Batch | None:
        """What was sent of it: all but events that can never be."""
        while batch.events:
            try:
                sender.send(batch)
            except DefectiveEventError as defect:
                _LOG.error("outbox: %s; it stays in the table, set aside", defect)
                batch = store.set_aside(claim, batch, defect.event, defect.reason)
                self._count.set_aside()
            else:
                self._count.sent(batch.events)
                return batch
        return None
