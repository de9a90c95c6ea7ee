"""What stays of a batch: Kafka's rules of compaction, one batch at a time.

A record stays if its key was not seen later. A tombstone stays until the delete horizon of its
batch, which the first cleaning sets (KIP-534). An aborted record goes. A marker stays while
anything of its transaction is there, and then as long as a tombstone. Touches no file.
"""

from __future__ import annotations

from penstock.model.error import ApiError
from penstock.records.builder import build_batch, retain
from penstock.records.header import BatchHeader, Buffer
from penstock.records.record import RecordSpan
from penstock.storage.compaction.job import CompactionJob, CompactionStats
from penstock.storage.compaction.key_map import KeyMap
from penstock.storage.compaction.read import read_spans
from penstock.storage.compaction.txn import TxnTracker


class BatchFilter:
    def __init__(
        self,
        job: CompactionJob,
        keys: KeyMap,
        mapped_end: int,
        txns: TxnTracker,
        stats: CompactionStats,
    ) -> None:
        self._job = job
        self._keys = keys
        self._mapped_end = mapped_end
        self._txns = txns
        self._stats = stats

    def filter(self, header: BatchHeader, batch: bytes, *, is_last: bool) -> Buffer | None:
        """The batch as it stays, maybe without records, or None. The last one of a new segment
        always stays, so that the segment still says where it ends."""
        try:
            return self._filter(header, batch, is_last)
        except ApiError as error:
            # Nobody knows what is in there, so nothing of it may go.
            self._note_malformed(header, str(error))
            return batch

    def _filter(self, header: BatchHeader, batch: bytes, is_last: bool) -> Buffer | None:
        self._stats.records_read += header.record_count
        keep_empty = is_last or self._is_last_of_producer(header)
        horizon = header.delete_horizon_ms
        if header.is_control:
            spent = self._txns.is_spent(batch, header)
            is_gone = spent and horizon is not None and horizon <= self._job.now_ms
        else:
            spent, is_gone = False, self._txns.is_aborted(header)
        if is_gone:
            return _emptied(header) if keep_empty else None
        body, spans = read_spans(header, batch)
        kept = spans if header.is_control else self._select(spans, horizon)
        if not kept:
            return _emptied(header) if keep_empty else None
        self._stats.records_kept += len(kept)
        sets_horizon = horizon is None and (spent or any(span[2] for span in kept))
        if sets_horizon:
            horizon = self._job.now_ms + self._job.delete_retention_ms
            return retain(header, body, kept, delete_horizon_ms=horizon)
        if len(kept) == len(spans):
            return batch
        return retain(header, body, kept)

    def _select(self, spans: list[RecordSpan], horizon: int | None) -> list[RecordSpan]:
        latest_of, mapped_end = self._keys.get, self._mapped_end
        drops_tombstones = horizon is not None and horizon <= self._job.now_ms
        return [
            span
            for span in spans
            if span[0] >= mapped_end
            or (
                span[1] is not None
                and not (drops_tombstones and span[2])
                and span[0] >= latest_of(span[1])
            )
        ]

    def _is_last_of_producer(self, header: BatchHeader) -> bool:
        """Its sequence number, or the epoch of its marker, is what the producer is known by."""
        last = self._job.producers.get(header.producer_id) if header.producer_id >= 0 else None
        if last is None:
            return False
        offset, epoch = last
        if offset >= 0:
            return header.last_offset == offset
        return header.is_control and header.producer_epoch == epoch

    def _note_malformed(self, header: BatchHeader, reason: str) -> None:
        self._stats.records_kept += header.record_count
        if not self._stats.malformed_batches:
            self._stats.malformed_offset = header.base_offset
            self._stats.malformed_reason = reason
        self._stats.malformed_batches += 1


def _emptied(header: BatchHeader) -> bytearray:
    return build_batch(
        [],
        base_offset=header.base_offset,
        last_offset_delta=header.last_offset_delta,
        timestamp_type=header.timestamp_type,
        max_timestamp=header.max_timestamp,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        is_transactional=header.is_transactional,
        is_control=header.is_control,
        leader_epoch=header.partition_leader_epoch,
    )
