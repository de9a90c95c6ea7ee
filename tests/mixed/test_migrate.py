"""docs/migrate.md is true: its commands move a live cluster of Apache Kafka to Penstock and back.

Meanwhile an idempotent producer, a transactional one and two groups go on. At the end every record
is there once, in order, and the groups stand where they stood.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.mixed.load_kit import leaders
from tests.mixed.migrate_kit import KAFKA, OURS, TOPIC, Hosts, Load
from tests.page_kit import Block, CommandError, sections
from tests.patience import wait_until

pytestmark = [pytest.mark.java, pytest.mark.timeout(1500)]

STEPS = sections("docs/migrate.md")
LOOK, ADD, MOVE, VOTE, RETIRE, BACK, STATIC = list(STEPS)[:7]
PATIENCE_S = 300.0


# The page says to ask again then.
EARLY = ("NotLeaderOrFollower", "NotController", "Timeout", "still in progress")


class Migration:
    def __init__(self, hosts: Hosts, load: Load) -> None:
        self._hosts = hosts
        self._load = load

    def follow(self, name: str, blocks: Sequence[Block]) -> None:
        for block in blocks:
            wait_until(partial(self._is_done, block), f"{name}: {block}", patience_s=PATIENCE_S)
        self._load.wait_progress(f"after {name}")

    def _is_done(self, block: Block) -> bool:
        try:
            said = self._hosts.reader.run(block)
        except CommandError as error:
            if any(word in str(error) for word in EARLY):
                return False
            raise
        return "--verify" not in block.text or "still in progress" not in said

    def go(self) -> None:
        self.follow(LOOK, STEPS[LOOK])
        properties, *blocks = STEPS[ADD]
        self._hosts.write_ours(properties.text)
        self.follow(ADD, blocks)
        self.follow(MOVE, STEPS[MOVE])
        self.follow(VOTE, STEPS[VOTE])
        self._retire(STEPS[RETIRE][0], "kafka", KAFKA)

    def come_back(self) -> None:
        properties, new, names, add, stop = STEPS[BACK]
        self._hosts.write_kafkas(properties.text)
        self.follow("Kafka's nodes are back", [new, names])
        self.follow("the partitions moved back", STEPS[MOVE][1:])
        self.follow("Kafka's controllers vote", [add, *STEPS[VOTE][1:]])
        self._retire(stop, "penstock", OURS)

    def change_in_place(self) -> None:
        there, look, back = STEPS[STATIC]
        for way, kind in ((there, "penstock"), (back, "kafka")):
            for number in KAFKA:
                change = Block("sh", way.text.replace("kafka1", f"kafka{number}"))
                self.follow(f"{kind} runs node {number}", [change])
                wait_until(lambda: self._is_level(look), "not level again", patience_s=PATIENCE_S)

    def _is_level(self, look: Block) -> bool:
        said = self._hosts.reader.run(look)
        return "orders" not in said and "__" not in said

    def _retire(self, stop: Block, host: str, numbers: Sequence[int]) -> None:
        """The page shows it for the first node."""
        _, *others = STEPS[RETIRE]
        for number in numbers:
            blocks = [
                Block(one.kind, one.text.replace(f"{host}{numbers[0]}", f"{host}{number}"))
                for one in (stop, *others)
            ]
            told = [Block(one.kind, one.text.replace("ID=1\n", f"ID={number}\n")) for one in blocks]
            self.follow(f"{host}{number} is retired", told)


def led_by(load: Load) -> set[int]:
    topics = [TOPIC, "__consumer_offsets", "__transaction_state"]
    return set(leaders(load.admin, topics).values())


def test_a_live_cluster_moves_here_and_back(tmp_path: Path) -> None:
    hosts = Hosts(tmp_path, dynamic=True)
    with hosts.running(), Load(hosts.bootstrap_servers).begun() as load:
        migration = Migration(hosts, load)
        migration.go()
        assert led_by(load) == set(OURS)
        migration.come_back()
        assert led_by(load) == set(KAFKA)
        load.settle()


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_nodes_change_in_place(tmp_path: Path, dynamic: bool) -> None:
    hosts = Hosts(tmp_path, dynamic=dynamic)
    with hosts.running(), Load(hosts.bootstrap_servers).begun() as load:
        migration = Migration(hosts, load)
        hosts.write_kafkas("")
        migration.follow(LOOK, STEPS[LOOK])
        migration.change_in_place()
        load.settle()
