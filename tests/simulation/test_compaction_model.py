"""Compaction against a model that knows every record ever written and what has to be left of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.storage.compaction.config import CleanerSettings
from penstock.storage.lookup import aborted_txns
from penstock.testing.disk import FaultyDisk
from tests.simulation.test_disk_faults import check_indexes
from tests.unit.storage.compaction_kit import CleanBench, CompactSettings, Row, read_batches

RETENTION_MS = 100

SMALL = CompactSettings(
    segment_bytes=700, delete_retention_ms=RETENTION_MS, index_interval_bytes=120
)

PAIRS = st.lists(
    st.tuples(st.sampled_from([b"a", b"b", b"c", b"d", b"e"]), st.sampled_from([None, 1, 30])),
    min_size=1,
    max_size=4,
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), PAIRS, st.sampled_from([0, 0, 2, 3, 4])),
        st.tuples(st.just("put"), PAIRS, st.just(0)),
        st.tuples(st.just("put_in_txn"), PAIRS, st.sampled_from([5, 6])),
        st.tuples(st.just("end_txn"), st.sampled_from([5, 6]), st.booleans()),
        st.tuples(st.just("roll")),
        st.tuples(st.just("clean")),
        st.tuples(st.just("clean")),
        st.tuples(st.just("wait"), st.sampled_from([1, RETENTION_MS])),
        st.tuples(st.just("reopen"), st.booleans()),
    ),
    max_size=60,
)


@dataclass
class Batch:
    rows: list[Row]
    producer_id: int = -1
    outcome: str = "commit"
    horizon: int | None = None
    alive: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.alive = list(self.rows)

    @property
    def base(self) -> int:
        return self.rows[0][0]


class Model:
    def __init__(self, cleaner_settings: CleanerSettings | None = None) -> None:
        self.disk = FaultyDisk(1)
        self.bench = CleanBench("/data", SMALL, self.disk, cleaner_settings)
        self.disk.sync_all()
        self.batches: list[Batch] = []
        self.number = 0
        self.sequence = 0
        self.cleaned_to = 0

    def put(self, pairs: list[tuple[bytes, int | None]], codec: int) -> None:
        self._append(pairs, codec=codec)

    def put_in_txn(self, pairs: list[tuple[bytes, int | None]], producer_id: int) -> None:
        self.sequence += len(pairs)
        self._append(
            pairs,
            producer_id=producer_id,
            producer_epoch=0,
            base_sequence=self.sequence,
            is_transactional=True,
        )
        self.batches[-1].producer_id = producer_id
        self.batches[-1].outcome = "open"

    def _append(self, pairs: list[tuple[bytes, int | None]], **fields: int | bool) -> None:
        valued = []
        for key, size in pairs:
            self.number += 1
            valued.append((key, None if size is None else b"%d-" % self.number * size))
        base = self.bench.put(*valued, **fields)
        self.batches.append(Batch([(base + at, k, v) for at, (k, v) in enumerate(valued)]))

    def end_txn(self, producer_id: int, commit: bool) -> None:
        self.bench.end_txn(producer_id, commit=commit)
        for batch in self.batches:
            if batch.producer_id == producer_id and batch.outcome == "open":
                batch.outcome = "commit" if commit else "abort"

    def roll(self) -> None:
        self.bench.roll()

    def wait(self, ms: int) -> None:
        self.bench.clock.ms += ms

    def reopen(self, clean: bool) -> None:
        if not clean:
            self.bench.log.flush()
            self.disk.crash()
        self.bench.reopen(clean=clean)
        self.check()

    def clean(self) -> None:
        report = self.bench.clean()
        if report is not None:
            self.cleaned_to = report.end_offset
            self.forget(report.end_offset, self.bench.clock.now_ms())
        self.check()

    def forget(self, end: int, now_ms: int) -> None:
        """What compaction has to do, said in the plainest way."""
        cleaned = [batch for batch in self.batches if batch.base < end]
        latest: dict[bytes | None, int] = {}
        for batch in cleaned:
            assert batch.outcome != "open"
            if batch.outcome == "commit":
                latest.update((key, offset) for offset, key, _ in batch.alive)
        for batch in cleaned:
            if batch.outcome == "abort":
                batch.alive = []
            expired = batch.horizon is not None and batch.horizon <= now_ms
            batch.alive = [
                row
                for row in batch.alive
                if latest[row[1]] == row[0] and not (expired and row[2] is None)
            ]
            if batch.horizon is None and any(row[2] is None for row in batch.alive):
                batch.horizon = now_ms + RETENTION_MS

    def check(self) -> None:
        assert self.bench.rows() == [row for batch in self.batches for row in batch.alive]
        log = self.bench.log
        check_indexes(log)
        assert log.size_bytes == sum(segment.size for segment in log.segments)
        for segment, behind in zip(log.segments, log.bases[1:], strict=False):
            assert segment.next_offset() == behind
        self.check_aborted()

    def check_aborted(self) -> None:
        """A reader of committed records skips what the index names: no less, and no more."""
        log = self.bench.log
        named = aborted_txns(log, 0, log.end_offset)
        for header, _ in read_batches(log):
            if header.record_count and header.is_transactional and not header.is_control:
                (batch,) = [b for b in self.batches if b.base == header.base_offset]
                covering = [
                    txn
                    for txn in named
                    if txn.producer_id == header.producer_id
                    and txn.first_offset <= header.base_offset <= txn.last_offset
                ]
                assert bool(covering) == (batch.outcome == "abort")


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_a_compacted_log_is_what_the_model_says(steps: list[tuple[object, ...]]) -> None:
    model = Model()
    for name, *arguments in steps:
        getattr(model, str(name))(*arguments)
    model.clean()
    model.reopen(True)
    for producer_id in (5, 6):
        model.end_txn(producer_id, True)
    model.roll()
    model.clean()


@settings(max_examples=60, deadline=None)
@given(STEPS, st.integers(8, 14))
def test_a_map_that_is_always_full_loses_nothing(
    steps: list[tuple[object, ...]], slots: int
) -> None:
    model = Model(CleanerSettings(key_map_bytes=24 * slots))
    model.check = lambda: None  # type: ignore[method-assign]
    model.forget = lambda end, now_ms: None  # type: ignore[method-assign]
    for name, *arguments in steps:
        getattr(model, str(name))(*arguments)
        rows = model.bench.rows()
        written = {row[0]: row for batch in model.batches for row in batch.rows}
        assert all(written[row[0]] == row for row in rows)
        assert [row[0] for row in rows] == sorted({row[0] for row in rows})
        latest: dict[bytes | None, Row] = {}
        for batch in model.batches:
            if batch.outcome == "commit":
                latest.update((row[1], row) for row in batch.rows)
        assert {row for row in latest.values() if row[2] is not None} <= set(rows)
