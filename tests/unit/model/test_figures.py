"""Records of the brokers' past: written, read again, and added up."""

from __future__ import annotations

import json

from penstock.model.figures import (
    CLIENTS_MAX,
    HOUR_MS,
    ClientFigures,
    DiskFigures,
    Figures,
    GroupFigures,
    ThrottleFigures,
    TopicFigures,
    add_figures,
    decode_figures,
    encode_figures,
    sum_figures,
)

FIRST = Figures(
    7,
    1000,
    61_000,
    bytes_in=100,
    records_in=10,
    idle=0.5,
    flushes=2,
    flush_s=0.02,
    flush_max_s=0.025,
    disks=(DiskFigures("/data", 10, 100),),
    topics=(TopicFigures("orders", 100, 10),),
    clients=(ClientFigures("orders", "ANONYMOUS", "shop", 100),),
    throttled=(ThrottleFigures("", "shop", "produce", 20.0),),
    groups=(GroupFigures("billing", "orders", 5, 2.5, None, None, 1, 0),),
)
SECOND = Figures(
    7,
    61_000,
    121_000,
    bytes_in=300,
    records_in=30,
    idle=1.0,
    flush_max_s=0.001,
    topics=(TopicFigures("clicks", 200, 20), TopicFigures("orders", 100, 10)),
    clients=(ClientFigures("orders", "ANONYMOUS", "shop", 300),),
    groups=(GroupFigures("billing", "orders", 9, 7.0, 6, 10, 2, 1),),
)


def test_what_is_written_is_read_again() -> None:
    assert decode_figures(encode_figures(FIRST)) == FIRST


def test_fields_of_newer_brokers_are_passed_over_and_other_versions_are_not_read() -> None:
    document = json.loads(encode_figures(FIRST)) | {"news": 1}
    document["topics"] = [[*each, "more"] for each in document["topics"]]
    assert decode_figures(json.dumps(document).encode()) == FIRST
    assert decode_figures(json.dumps(document | {"v": 2}).encode()) is None
    for other in (None, b"", b"{}", b"[1]", b'{"v":1}'):
        assert decode_figures(other) is None


def test_a_sum_adds_counts_and_keeps_the_last_lag() -> None:
    total = add_figures(FIRST, SECOND)
    assert (total.from_ms, total.until_ms, total.bytes_in, total.records_in) == (
        1000,
        121_000,
        400,
        40,
    )
    assert total.idle == 0.75
    assert (total.flushes, total.flush_max_s) == (2, 0.025)
    assert total.disks == FIRST.disks
    assert total.topics == (TopicFigures("clicks", 200, 20), TopicFigures("orders", 200, 20))
    assert total.clients == (ClientFigures("orders", "ANONYMOUS", "shop", 400),)
    assert total.throttled == FIRST.throttled
    assert total.groups == (GroupFigures("billing", "orders", 9, 7.0, 6, 10, 2, 1),)
    assert sum_figures([FIRST, SECOND]) == total
    assert sum_figures([]) is None


def test_a_record_belongs_to_the_hour_of_most_of_it() -> None:
    assert Figures(1, HOUR_MS - 60_000, HOUR_MS + 20).hour_ms == 0
    assert Figures(1, HOUR_MS + 20, HOUR_MS + 60_000).hour_ms == HOUR_MS


def test_a_sum_does_not_grow_without_bound() -> None:
    many = [
        Figures(1, n, n + 1, clients=(ClientFigures("t", "u", f"client-{n}", n),))
        for n in range(500)
    ]
    total = sum_figures(many)
    assert total is not None
    assert len(total.clients) == CLIENTS_MAX
    assert total.clients[0].client_id == "client-499"
