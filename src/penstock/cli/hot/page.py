"""Hot spots as a page for a person, and as a document for a machine. Pure but for printing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.cli.hot.facts import HotFacts, KeySample
from penstock.cli.hot.judge import KEY_SHARE, Spot, broker_heat
from penstock.cli.hot.words import key_name
from penstock.cli.output import human_bytes, print_line, print_table

_ROWS = 10
_OF = {
    "broker": "the median of the others",
    "partition": "an even part of its topic",
    "client": "all others together",
}


def document(facts: HotFacts, spots: Sequence[Spot]) -> dict[str, Any]:
    return {
        "brokers": [each._asdict() for each in broker_heat(facts)],
        "partitions": [
            each._asdict() | {"place": str(each.place)} for each in facts.rates if each.records_s
        ],
        "keys": [_sample_document(each) for each in facts.samples.values()],
        "producers": [each._asdict() | {"place": str(each.place)} for each in facts.producers],
        "groups": [each._asdict() for each in facts.groups],
        "clients": None if facts.clients is None else [each._asdict() for each in facts.clients],
        "hot": [
            each._asdict() | {"remedies": [one._asdict() for one in each.remedies]}
            for each in spots
        ],
    }


def _sample_document(sample: KeySample) -> dict[str, Any]:
    keys = [
        {"key": key_name(each.key), "records": each.records, "share": each.share}
        for each in sample.keys
    ]
    return {"partition": str(sample.place), "records": sample.records, "keys": keys}


def show(facts: HotFacts, spots: Sequence[Spot]) -> None:
    _show_brokers(facts)
    _show_partitions(facts)
    for sample in _telling(facts):
        _show_keys(sample)
    _show_clients(facts)
    _show_spots(spots)


def _telling(facts: HotFacts) -> list[KeySample]:
    """Of the busiest partition, and of others with a key that stands out."""
    samples = list(facts.samples.values())
    return samples[:1] + [each for each in samples[1:] if each.keys[0].share >= KEY_SHARE]


def _rate(bytes_s: float) -> str:
    return f"{human_bytes(int(bytes_s))}/s"


def _times(times: float | None) -> str:
    return "-" if times is None else f"{times:.1f}"


def _show_brokers(facts: HotFacts) -> None:
    rows = [(each.broker, _rate(each.bytes_s), _times(each.times)) for each in broker_heat(facts)]
    print_table(("broker", "written", "times the median of the others"), rows)


def _show_partitions(facts: HotFacts) -> None:
    total = sum(each.bytes_s for each in facts.rates) or 1.0
    busy = [each for each in facts.rates if each.records_s][:_ROWS]
    if not busy:
        print_line("\nnothing was written while it was looked at; --seconds looks for longer")
        return
    print_line("")
    print_table(
        ("partition", "leader", "records/s", "written", "share"),
        [
            (
                str(each.place),
                each.leader,
                round(each.records_s),
                _rate(each.bytes_s),
                f"{each.bytes_s / total:.0%}",
            )
            for each in busy
        ],
    )


def _show_keys(sample: KeySample) -> None:
    print_line(f"\nkeys of {sample.place}, by its last {sample.records:,} records")
    rows = [(key_name(each.key), each.records, f"{each.share:.1%}") for each in sample.keys]
    print_table(("key", "records", "share"), rows)


def _show_clients(facts: HotFacts) -> None:
    if facts.producers:
        print_line("")
        print_table(
            ("partition", "producer id", "records/s"),
            [
                (str(each.place), each.producer_id, round(each.records_s))
                for each in facts.producers[:_ROWS]
            ],
        )
    if facts.groups:
        print_line("")
        rows = [(each.group, each.topic, round(each.records_s)) for each in facts.groups[:_ROWS]]
        print_table(("group", "topic", "committed/s"), rows)
    if facts.clients is None:
        print_line(
            "\nclients by name: unknown, Kafka's protocol does not tell; --metrics HOST:PORT names "
            "brokers that do"
        )
        return
    print_line("")
    print_table(
        ("client", "user", "sends", "receives"),
        [
            (each.client_id, each.user, _rate(each.sent), _rate(each.received))
            for each in facts.clients[:_ROWS]
        ],
    )


def _show_spots(spots: Sequence[Spot]) -> None:
    print_line("")
    if not spots:
        print_line("nothing is hot")
    told: list[object] = []
    for each in spots:
        by = f"{each.times:.1f} times {_OF[each.kind]}" if each.times else "and the others nothing"
        print_line(f"HOT  {each.what}: {_rate(each.bytes_s)}, {by}")
        if each.remedies in told:
            print_line("  as above")
            continue
        told.append(each.remedies)
        for number, remedy in enumerate(each.remedies, 1):
            print_line(f"  {number}. {remedy.do}")
            print_line(f"     {remedy.why}")
