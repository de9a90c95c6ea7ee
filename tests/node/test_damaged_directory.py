"""One file of a data directory is damaged, at random. The node starts all the same, or says in one
line why it does not; what it serves is what was written; and other partitions notice nothing.

    PENSTOCK_DAMAGE_SEEDS=300 pytest tests/node/test_damaged_directory.py -n 2

tries that many, in place of a few.
"""

from __future__ import annotations

import logging
import os
import shutil
import time
from pathlib import Path
from random import Random

import pytest

from penstock.model.error import ErrorCode, InvariantError, PenstockError
from penstock.node.node import Node
from penstock.records.builder import build_batch
from penstock.records.record import Record
from penstock.storage import names
from tests.node.damage_kit import (
    SETTINGS,
    TOPICS,
    Content,
    Key,
    Stock,
    damage,
    files_of,
    list_offset,
    make_stock,
    read,
    times,
)
from tests.node.node_kit import RunningNode
from tests.node.wire_kit import PRODUCE_VERSION, Wire, produce, produced

SEEDS = range(int(os.environ.get("PENSTOCK_DAMAGE_FIRST", "0")), 100_000)
SEED_COUNT = int(os.environ.get("PENSTOCK_DAMAGE_SEEDS", "12"))

REFUSED = {ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.CORRUPT_MESSAGE}
METADATA = "__cluster_metadata-0"
NO_TRUTH = (names.META_PROPERTIES, METADATA, names.RECOVERY_POINTS)
"""Without these a node may refuse to start. The last one says how far the metadata log went."""


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Stock:
    return make_stock(tmp_path_factory.mktemp("stock"))


@pytest.mark.parametrize("seed", SEEDS[:SEED_COUNT])
def test_one_damaged_file(
    seed: int, stock: Stock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Story(seed, stock, tmp_path / "data", caplog).play()


class Story:
    def __init__(
        self, seed: int, stock: Stock, home: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        self.chance = Random(seed)
        self.stock = stock
        self.home = home
        self.caplog = caplog
        self.produced: dict[Key, Content] = {key: {} for key in TOPICS}
        self.is_clean = self.chance.random() < 0.5
        shutil.copytree(stock.stopped if self.is_clean else stock.crashed, home)
        self.victim = self.chance.choice(files_of(home))
        self.what = damage(self.victim, self.chance)

    @property
    def said(self) -> str:
        """For whoever looks at a failure."""
        path = self.victim.relative_to(self.home)
        return f"{path} was given {self.what}, after a {'stop' if self.is_clean else 'crash'}"

    def play(self) -> None:
        assert logging.getLogger("penstock").isEnabledFor(logging.WARNING)
        for _ in range(2):
            node = self._start()
            if node is None:
                return
            try:
                with Wire(node.address) as wire:
                    self._touch(wire, node.node)
                self._upkeep(node)
                with Wire(node.address) as wire:
                    self._check_all(wire)
                assert node.node.log_dirs.metadata.offline is None, self.said
                assert node.node.metrics.unexpected_errors == 0, self.said
            except BaseException as error:
                error.add_note(self.said)
                node.stop()
                raise
            node.stop() if self.chance.random() < 0.5 else node.abandon()

    def _start(self) -> RunningNode | None:
        """None if it rightly does not start."""
        node = RunningNode(self.home, SETTINGS, None, None)
        try:
            node.start()
        except PenstockError as error:
            assert not isinstance(error, InvariantError), self.said
            path = str(self.victim.relative_to(self.home))
            assert path.startswith(NO_TRUTH), f"{self.said}: {error}"
            assert str(self.home) in str(error), f"{self.said}: {error}"
            assert "\n" not in str(error)
            return None
        return node

    def _touch(self, wire: Wire, node: Node) -> None:
        self._check_all(wire)
        for key in TOPICS:
            value = b"new %d" % self.chance.randrange(1 << 30)
            batch = build_batch([Record(0, time.time_ns() // 1_000_000, b"new", value)])
            answer = produced(wire.call(produce(key[0], batch, key[1]), PRODUCE_VERSION))
            if answer.error_code == 0:
                self.produced[key][answer.base_offset] = (-1, value)
            else:
                assert answer.error_code in REFUSED, self.said
                assert self._may_lose(key), self.said

    def _upkeep(self, node: RunningNode) -> None:
        """Retention and compaction have looked at everything, and live on."""
        deadline = time.monotonic() + 60
        node.node._upkeep.rounds.clear()
        while min(node.node._upkeep.rounds[name] for name in ("retention", "compaction")) < 2:
            assert time.monotonic() < deadline, self.said
            time.sleep(0.01)

    def _check_all(self, wire: Wire) -> None:
        for key in TOPICS:
            content, errors = read(wire, *key)
            assert errors <= REFUSED, (self.said, key, errors)
            self._check(key, content, errors)
            if not self._may_lose(key):
                self._check_times(wire, key)

    def _check(self, key: Key, content: Content, errors: set[int]) -> None:
        wanted = {**self.stock.content[key], **self.produced[key]}
        wrong = {
            offset: found
            for offset, found in content.items()
            if offset not in wanted or wanted[offset][1] != found[1]
        }
        if not self._may_lose(key):
            assert not errors, (self.said, key, errors)
            missing = self._needed(key, wanted) - content.keys()
            assert not missing and not wrong, (self.said, key, missing, wrong)
        elif not self.produced[key] or errors:
            # Where an end was lost, what is produced now takes the offsets of what is gone.
            new = {value for _, value in self.produced[key].values()}
            assert all(found[1] in new for found in wrong.values()), (self.said, key, wrong)

    def _needed(self, key: Key, wanted: Content) -> set[int]:
        """A compacted topic keeps the last value of each key."""
        if key[0] != "compact":
            return set(wanted)
        last = {value.partition(b"-")[2]: offset for offset, (_, value) in wanted.items()}
        return set(last.values())

    def _check_times(self, wire: Wire, key: Key) -> None:
        if key[0] != "plain":
            return
        content = self.stock.content[key]
        for timestamp in times(self.stock, self.chance):
            expected = min(
                (offset for offset, (at, _) in content.items() if at >= timestamp), default=None
            )
            found, error = list_offset(wire, *key, timestamp)
            assert error == 0, (self.said, key, timestamp)
            assert expected in (None, found), (self.said, key, timestamp)

    def _may_lose(self, key: Key) -> bool:
        """Whether the damage is of records, or of what says where they begin."""
        path = self.victim.relative_to(self.home)
        if path.name == names.LOG_STARTS or str(path).startswith(METADATA):
            return True
        if path.name == names.RECOVERY_POINTS:
            return not self.is_clean
        return path.suffix == names.LOG and path.parts[0] == f"{key[0]}-{key[1]}"
