"""The commands of transaction transcripts, each turned into a request to a TransactionShard.

Producers are written as `ID/EPOCH`. Producer ids are handed out from 1000 on.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace

from penstock.machine import Decision, TimerCancel, TimerChange, TimerKey
from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.protocol.entity import Entity
from penstock.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from penstock.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from penstock.protocol.messages.end_txn import EndTxnRequest
from penstock.protocol.messages.init_producer_id import InitProducerIdRequest
from penstock.protocol.messages.list_transactions import ListTransactionsRequest
from penstock.transaction import (
    Identity,
    MarkerTask,
    TransactionConfig,
    TransactionRecord,
    additions,
    additions_response,
    marker_task,
)
from penstock.transaction.record import record_of, transaction_of
from penstock.transaction.state import TransactionState
from penstock.transaction.timer import TimeoutTimer
from penstock.transaction.transaction import Transaction
from tests.transcripts.transaction_world import TransactionWorld
from tests.transcripts.transcript import Names

Options = dict[str, str]


class TransactionNames(Names):
    def fields(self, value: Entity, skip: tuple[str, ...] = ()) -> list[str]:
        shown = super().fields(value, (*skip, "error_code"))
        code = getattr(value, "error_code", 0)
        if "error_code" not in skip and code:
            shown.append(ErrorCode(code).name)
        return shown


class TransactionScript:
    def __init__(self) -> None:
        self.names = TransactionNames()
        self.world = TransactionWorld(TransactionConfig())

    def run(self, command: list[str]) -> list[str]:
        out: list[str] = []
        for line in command:
            name, *words = shlex.split(line)
            method = getattr(self, "do_" + name.replace("-", "_"))
            options = dict(word.split("=", 1) for word in words if "=" in word)
            out += method([word for word in words if "=" not in word], options)
        return out

    # --- showing ---

    def take(self, decision: Decision[TransactionRecord, object]) -> list[str]:
        self.world.take(decision)
        return self.show(decision)

    def show(self, decision: Decision[TransactionRecord, object]) -> list[str]:
        lines = [_record(record) for record in decision.records]
        lines += [self._timer(change) for change in decision.timers]
        tasks = (marker_task(record) for record in decision.records)
        lines += [_task(task) for task in tasks if task is not None]
        reply = decision.reply
        if isinstance(reply, list):
            lines += [f"-> {self._reply(one)}" for one in reply] or ["-> none"]
        elif reply is not None:
            lines.append(f"-> {self._reply(reply)}")
        return lines

    def _timer(self, change: TimerChange) -> str:
        if isinstance(change, TimerCancel):
            return f"cancel {_timer_name(change.key)}"
        return f"timer {_timer_name(change.key)} +{change.deadline_ms - self.world.now_ms}"

    def _reply(self, reply: object) -> str:
        if not isinstance(reply, Entity):
            return str(reply)
        error = ErrorCode(getattr(reply, "error_code", 0)).name
        return " ".join([error, *self.names.fields(reply, ("error_code", "throttle_time_ms"))])

    # --- the world ---

    def do_settings(self, _: list[str], options: Options) -> list[str]:
        values = {key: int(value) for key, value in options.items()}
        self.world = TransactionWorld(TransactionConfig(**values))
        return []

    def do_upgrade(self, words: list[str], _: Options) -> list[str]:
        """Finalize another transaction version for the cluster."""
        self.world.config = replace(self.world.config, transaction_version=int(words[0]))
        self.world.shard.configure(self.world.config)
        return []

    def do_producer_ids(self, words: list[str], _: Options) -> list[str]:
        self.world.ids_left = None if words[0] == "plenty" else int(words[0])
        return []

    def do_advance(self, words: list[str], _: Options) -> list[str]:
        """Let time pass; what the timers bring is shown with the time it came."""
        until_ms = self.world.now_ms + int(words[0])
        lines = []
        while (rung := self.world.ring(until_ms)) is not None:
            key, decision = rung
            lines.append(f"@{self.world.now_ms} {_timer_name(key)}")
            lines += ["  " + line for line in self.show(decision)]
        return lines

    def do_restart(self, *_: object) -> list[str]:
        return self.show(self.world.start())

    def do_put(self, words: list[str], options: Options) -> list[str]:
        """`put ID PRODUCER STATE [PARTITION …]`: as if a log said so."""
        identity = _identity(words[1])
        transaction = Transaction(
            words[0],
            identity.producer_id,
            identity.producer_epoch,
            previous_producer_id=identity.producer_id,
            state=TransactionState(words[2]),
            partitions=frozenset(_partitions(words[3:])),
            timeout_ms=int(options.get("timeout", "60000")),
            start_ms=self.world.now_ms,
            update_ms=self.world.now_ms,
            client_version=int(options.get("tv", "2")),
        )
        return self.take(Decision((record_of(transaction, 1),), None))

    # --- producers ---

    def do_init(self, words: list[str], options: Options) -> list[str]:
        """`init ID [PRODUCER] [timeout=… v=…]`"""
        expected = _identity(words[1]) if len(words) > 1 else Identity(-1, -1)
        request = InitProducerIdRequest(
            transactional_id=words[0],
            transaction_timeout_ms=int(options.get("timeout", "60000")),
            producer_id=expected.producer_id,
            producer_epoch=expected.producer_epoch,
            enable2_pc=options.get("two-phase") == "yes",
            keep_prepared_txn=options.get("keep") == "yes",
        )
        version = int(options.get("v", "5"))
        shard = self.world.shard
        return self.take(shard.decide_init_producer_id(request, version, self.world.now_ms))

    def do_add(self, words: list[str], options: Options) -> list[str]:
        """`add ID PRODUCER PARTITION …`: from the broker of a partition, as version 2 does, or
        with v=3 and less from the client."""
        return self._add(words, int(options.get("v", "5")), verify_only=False)

    def do_verify(self, words: list[str], options: Options) -> list[str]:
        return self._add(words, int(options.get("v", "5")), verify_only=True)

    def _add(self, words: list[str], version: int, verify_only: bool) -> list[str]:
        request = _add_request(words[0], _identity(words[1]), words[2:], version, verify_only)
        lines: list[str] = []
        results = []
        for addition in additions(request, version):
            decision = self.world.shard.decide_add_partitions(addition, self.world.now_ms)
            assert isinstance(decision.reply, Mapping)
            results.append((addition.transactional_id, decision.reply))
            lines += self.take(decision._replace(reply=None))
        response = additions_response(results, version)
        return [*lines, f"-> {_added(response)}"]

    def do_add_offsets(self, words: list[str], options: Options) -> list[str]:
        """`add-offsets ID PRODUCER GROUP`; the group's offsets are in partition 7."""
        identity = _identity(words[1])
        request = AddOffsetsToTxnRequest(
            transactional_id=words[0],
            producer_id=identity.producer_id,
            producer_epoch=identity.producer_epoch,
            group_id=words[2],
        )
        where = TopicPartition("__consumer_offsets", 7)
        version = int(options.get("v", "3"))
        shard = self.world.shard
        return self.take(shard.decide_add_offsets(request, version, where, self.world.now_ms))

    def do_commit(self, words: list[str], options: Options) -> list[str]:
        return self._end(words, options, committed=True)

    def do_abort(self, words: list[str], options: Options) -> list[str]:
        return self._end(words, options, committed=False)

    def _end(self, words: list[str], options: Options, committed: bool) -> list[str]:
        """`commit ID PRODUCER [v=…]`; from v=5 on of transaction version 2."""
        identity = _identity(words[1])
        request = EndTxnRequest(
            transactional_id=words[0],
            producer_id=identity.producer_id,
            producer_epoch=identity.producer_epoch,
            committed=committed,
        )
        version = int(options.get("v", "5"))
        return self.take(self.world.shard.decide_end(request, version, self.world.now_ms))

    # --- markers ---

    def do_written(self, words: list[str], _: Options) -> list[str]:
        """`written ID PRODUCER PARTITION …`"""
        identity, partitions = _identity(words[1]), _partitions(words[2:])
        return self.take(
            self.world.shard.decide_markers_written(
                words[0], identity, partitions, self.world.now_ms
            )
        )

    def do_markers(self, *_: object) -> list[str]:
        return [_task(task) for task in self.world.shard.pending_markers()] or ["none"]

    # --- admins ---

    def do_list(self, words: list[str], options: Options) -> list[str]:
        """`list [STATE …] [producers=1,2 longer=MS pattern=…]`"""
        producers = options.get("producers", "")
        request = ListTransactionsRequest(
            state_filters=words,
            producer_id_filters=[int(one) for one in producers.split(",") if one],
            duration_filter=int(options.get("longer", "-1")),
            transactional_id_pattern=options.get("pattern"),
        )
        return self.take(self.world.shard.decide_list(request, self.world.now_ms))

    def do_describe(self, words: list[str], _: Options) -> list[str]:
        return self.take(self.world.shard.decide_describe(words))


def _add_request(
    transactional_id: str, identity: Identity, words: list[str], version: int, verify_only: bool
) -> AddPartitionsToTxnRequest:
    topics = [
        AddPartitionsToTxnTopic(name=topic, partitions=[partition])
        for topic, partition in _partitions(words)
    ]
    if version < 4:
        return AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=transactional_id,
            v3_and_below_producer_id=identity.producer_id,
            v3_and_below_producer_epoch=identity.producer_epoch,
            v3_and_below_topics=topics,
        )
    one = AddPartitionsToTxnTransaction(
        transactional_id=transactional_id,
        producer_id=identity.producer_id,
        producer_epoch=identity.producer_epoch,
        verify_only=verify_only,
        topics=topics,
    )
    return AddPartitionsToTxnRequest(transactions=[one])


def _added(response: AddPartitionsToTxnResponse) -> str:
    topics = [topic for one in response.results_by_transaction for topic in one.topic_results]
    shown = " ".join(
        f"{topic.name}-{one.partition_index}:{ErrorCode(one.partition_error_code).name}"
        for topic in topics + response.results_by_topic_v3_and_below
        for one in topic.results_by_partition
    )
    return shown or "no partitions"


def _identity(word: str) -> Identity:
    producer_id, _, epoch = word.partition("/")
    return Identity(int(producer_id), int(epoch))


def _partitions(words: Iterable[str]) -> list[TopicPartition]:
    split = (word.rpartition("-") for word in words)
    return [TopicPartition(topic, int(index)) for topic, _, index in split]


def _joined(partitions: Iterable[TopicPartition]) -> str:
    return " ".join(str(one) for one in sorted(partitions))


def _record(record: TransactionRecord) -> str:
    """The producer, then what else is not as usual: ids before and after, client version."""
    if record.value is None:
        return f"record {record.transactional_id} = tombstone"
    one = transaction_of(record.transactional_id, record.value)
    parts = [f"record {one.transactional_id} = {one.state.value} {_shown(one.identity)}"]
    if one.previous_producer_id not in (one.producer_id, -1):
        parts.append(f"before {one.previous_producer_id}")
    if one.next_producer_id != -1:
        parts.append(f"next {one.next_producer_id}")
    parts += [f"tv{one.client_version}"] if one.client_version else []
    parts += [f"[{_joined(one.partitions)}]"] if one.partitions else []
    parts += [f"since {one.start_ms}"] if one.start_ms != -1 else []
    parts += [f"as v{record.value_version}"] if record.value_version != 1 else []
    return " ".join(parts)


def _task(task: MarkerTask) -> str:
    end = "commit" if task.committed else "abort"
    version = f" tv{task.transaction_version}" if task.transaction_version else ""
    who = f"{task.transactional_id} {_shown(task.identity)}{version}"
    return f"markers {end} of {who} to {_joined(task.partitions)}"


def _shown(identity: Identity) -> str:
    return f"{identity.producer_id}/{identity.producer_epoch}"


def _timer_name(key: TimerKey) -> str:
    if isinstance(key, TimeoutTimer):
        return f"timeout({key.transactional_id})"
    return "expiration"
