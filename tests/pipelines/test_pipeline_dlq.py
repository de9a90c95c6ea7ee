"""Dead letters listed, shown and sent back once, against a real broker."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.cli.main import main
from penstock.client.offset_ranges import ScatteredError, decode_ranges, encode_ranges
from penstock.pipelines.dlq import Choice, dead_letter_topics, letters, tallies
from penstock.pipelines.ledger import Ledger
from penstock.pipelines.redrive import Redrive, RedriveError
from penstock.pipelines.scan import Scan
from penstock.testing.broker import Broker

DEAD = "shop.dead-letters"


def client(broker: Broker) -> dict[str, Any]:
    return {"bootstrap.servers": broker.bootstrap_servers}


def headers(number: int, error: str = "DecodeError") -> list[tuple[str, bytes | None]]:
    said = {
        "topic": "orders",
        "partition": number % 2,
        "offset": number,
        "timestamp": 1_700_000_000_000 + number,
        "error": error,
        "message": f"no number in {number}",
        "attempt": 1,
        "pipeline": "shop",
        "class": "poison",
    }
    ours = [(f"penstock.dlq.{key}", str(value).encode()) for key, value in said.items()]
    return [("trace", b"t-1"), *ours]


def bury(broker: Broker, count: int, errors: tuple[str, ...] = ("DecodeError",)) -> None:
    broker.create_topic("orders", 2)
    broker.create_topic(DEAD, 2)
    for number in range(count):
        broker.produce(
            DEAD,
            [(f"k{number}", f"broken {number}")],
            partition=number % 2,
            headers=headers(number, errors[number % len(errors)]),
        )


def values(broker: Broker, expected: int) -> list[str]:
    committed = {"isolation.level": "read_committed"}
    # A commit is answered before its markers are written: readers see the records soon after.
    broker.read("orders", count=expected, settings=committed)
    return [each.value.decode() for each in broker.read("orders", settings=committed)]


def test_letters_are_counted_by_error(penstock: Broker) -> None:
    bury(penstock, 5, ("DecodeError", "TooBigError", "DecodeError"))
    assert dead_letter_topics(client(penstock)) == [DEAD]
    first, second = tallies(client(penstock), DEAD)
    assert (first.error, first.count, first.waiting) == ("DecodeError", 3, 3)
    assert (second.error, second.count, second.waiting) == ("TooBigError", 2, 2)
    assert first.pipelines == {"shop"}
    assert first.origins == {"orders"}
    assert first.oldest_ms is not None
    assert first.newest_ms is not None
    assert first.oldest_ms <= first.newest_ms


def test_letters_are_chosen(penstock: Broker) -> None:
    bury(penstock, 6, ("a.DecodeError", "TooBigError", "a.DecodeError"))

    def shown(choice: Choice, limit: int | None = None) -> list[int | None]:
        found = letters(client(penstock), DEAD, choice, limit)
        return sorted(each.origin_offset or 0 for each in found)

    assert shown(Choice()) == [0, 1, 2, 3, 4, 5]
    assert shown(Choice(error="decodeerror")) == [0, 2, 3, 5]
    assert shown(Choice(partition=1)) == [1, 3, 5]
    assert shown(Choice(partition=1, offset=1)) == [3]
    assert len(shown(Choice(), 2)) == 2


def test_letters_go_back_once_with_their_history(penstock: Broker) -> None:
    bury(penstock, 4)
    assert Redrive(client(penstock), DEAD).plan().sent == 4
    assert values(penstock, 0) == []
    outcome = Redrive(client(penstock), DEAD).run()
    assert (outcome.sent, outcome.by_topic) == (4, {"orders": 4})
    records = penstock.read("orders")
    assert [each.value.decode() for each in records] == [f"broken {one}" for one in (0, 2, 1, 3)]
    assert (records[0].partition, records[0].key) == (0, b"k0")
    found = dict(records[0].headers)
    assert records[0].headers[0] == ("trace", b"t-1")
    assert found["penstock.dlq.redriven"] == b"1"
    assert found["penstock.dlq.error"] == b"DecodeError"
    (failure,) = json.loads(found["penstock.dlq.history"] or b"")
    assert failure["error"] == "DecodeError"
    assert failure["message"] == "no number in 0"
    assert failure["attempt"] == 1
    assert Redrive(client(penstock), DEAD).run().sent == 0
    assert len(values(penstock, 4)) == 4
    assert [each.waiting for each in tallies(client(penstock), DEAD)] == [0]


def test_a_letter_as_large_as_the_topic_takes_goes_back(penstock: Broker) -> None:
    penstock.create_topic("orders", 2)
    penstock.create_topic(DEAD, 2)
    large = "x" * 1_040_000
    roomy = {"message.max.bytes": 2_000_000}
    penstock.produce(DEAD, [("k", large)], headers=headers(0), settings=roomy)
    assert Redrive(client(penstock), DEAD).run().sent == 1
    assert values(penstock, 1) == [large]


def test_a_second_failure_adds_to_the_history(penstock: Broker) -> None:
    bury(penstock, 1)
    Redrive(client(penstock), DEAD).run()
    (back,) = penstock.read("orders", count=1)
    again = dict(back.headers) | dict(headers(0, "StillBadError"))
    again["penstock.dlq.attempt"] = b"2"
    penstock.produce(DEAD, ["broken 0"], partition=0, headers=list(again.items()))
    assert Redrive(client(penstock), DEAD).run().sent == 1
    found = dict(penstock.read("orders", count=2)[1].headers)
    assert found["penstock.dlq.redriven"] == b"2"
    history = json.loads(found["penstock.dlq.history"] or b"")
    assert [each["error"] for each in history] == ["DecodeError", "StillBadError"]
    assert [each["attempt"] for each in history] == [1, 2]


def test_a_choice_leaves_the_others_waiting(penstock: Broker) -> None:
    bury(penstock, 8, ("A", "B", "B", "A"))
    assert Redrive(client(penstock), DEAD, Choice(error="B")).run().sent == 4
    assert Redrive(client(penstock), DEAD, Choice(error="B")).run().sent == 0
    assert {one.error: one.waiting for one in tallies(client(penstock), DEAD)} == {"A": 4, "B": 0}
    assert Redrive(client(penstock), DEAD, limit=1).run().sent == 1
    assert Redrive(client(penstock), DEAD).run().sent == 3
    assert sorted(values(penstock, 8)) == sorted(f"broken {number}" for number in range(8))


class Interrupted(Exception):
    pass


def test_an_interrupted_run_goes_on_where_it_was(penstock: Broker) -> None:
    bury(penstock, 12)
    sent: list[int] = []

    def interrupt(count: int) -> None:
        sent.append(count)
        if len(sent) == 3:
            raise Interrupted

    with pytest.raises(Interrupted):
        Redrive(client(penstock), DEAD, rate=30.0, on_sent=interrupt).run()
    # Three parcels went, of three letters each unless it was slow; now one dies with its
    # transaction open.
    left = 12 - sum(sent)
    assert 3 <= left <= 9
    half = Redrive(client(penstock), DEAD, rate=30.0)
    producer = half._producer()
    producer.begin_transaction()
    for letter in half._walk():
        half._produce(producer, letter)
    producer.flush(10)
    assert Redrive(client(penstock), DEAD).run().sent == left
    assert sorted(values(penstock, 12)) == sorted(f"broken {number}" for number in range(12))


def test_the_later_of_two_runs_takes_over(penstock: Broker) -> None:
    bury(penstock, 6)
    first = Redrive(client(penstock), DEAD, rate=10.0)
    second = Redrive(client(penstock), DEAD)

    def overtake(_: int) -> None:
        if second.outcome.sent == 0:
            second.run()

    first._on_sent = overtake
    with pytest.raises(RedriveError, match="took over"):
        first.run()
    assert sorted(values(penstock, 6)) == sorted(f"broken {number}" for number in range(6))


def test_the_command(penstock: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    bury(penstock, 3)
    at = ["-b", penstock.bootstrap_servers]
    assert main(["dlq", "list", *at]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert listed[0].split() == ["TOPIC", "ERROR", "LETTERS", "WAITING", "FROM", "OLDEST", "NEWEST"]
    assert listed[1].split()[:5] == [DEAD, "DecodeError", "3", "3", "orders"]
    assert main(["dlq", "show", DEAD, "-n", "1", "-p", "0", *at]) == 0
    shown = capsys.readouterr().out
    assert "from orders-0 @ 0" in shown
    assert "DecodeError: no number in 0" in shown
    assert "broken 0" in shown
    assert main(["dlq", "show", DEAD, "--json", *at]) == 0
    documents = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert documents[0]["origin"] == {"topic": "orders", "partition": 0, "offset": 0}
    assert main(["dlq", "redrive", DEAD, "--dry-run", *at]) == 0
    assert capsys.readouterr().out == "would send 3 letters back to orders\n"
    assert main(["dlq", "redrive", DEAD, "--json", *at]) == 0
    assert json.loads(capsys.readouterr().out)["sent"] == 3
    assert main(["dlq", "redrive", DEAD, *at]) == 0
    assert capsys.readouterr().out.startswith("nothing to send")


def test_the_command_says_what_is_wrong(
    penstock: Broker, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ["-b", penstock.bootstrap_servers]
    assert main(["dlq", "show", "nowhere", *at]) == 1
    assert "there is no topic nowhere" in capsys.readouterr().err
    assert main(["dlq", "show", DEAD, "--offset", "3", *at]) == 2
    assert "--partition" in capsys.readouterr().err


def test_a_scan_ends_where_the_topic_ended(penstock: Broker) -> None:
    penstock.create_topic("t", 2)
    penstock.produce("t", ["a", "b"], partition=0)
    with Scan(client(penstock), "t") as scan:
        penstock.produce("t", ["c"], partition=0)
        assert len(scan) == 2
        assert [each.value() for each in scan.records()] == [b"a", b"b"]


def test_ranges_survive_their_text() -> None:
    offsets = {5, 6, 7, 40, 1000, 1001}
    assert decode_ranges(encode_ranges(offsets, 3), 3) == offsets
    assert encode_ranges(set(), 3) == ""
    assert decode_ranges("someone else's", 3) == set()
    with pytest.raises(ScatteredError):
        encode_ranges({number * number for number in range(9000)}, 0)


def test_the_ledger_waits_for_what_was_left_behind() -> None:
    ledger = Ledger("t")
    for offset, sent in enumerate([True, True, False, True]):
        ledger.passed(0, offset, sent=sent)
    (place,) = ledger.commits([0])
    assert place.offset == 2
    assert decode_ranges(place.metadata, 2) == {3}
    assert [ledger.holds(0, offset) for offset in range(4)] == [True, True, False, True]
