"""A fetch over its quota: nothing is sent, nothing is kept, and the next one has it all."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from penstock.handlers.metered_fetch import MeteredFetch
from penstock.protocol.messages.fetch import FetchResponse
from penstock.storage.slice import FileSlice
from tests.unit.handlers.fetch_kit import Client, Desk


def test_what_was_located_for_a_throttled_fetch_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path, 1)
    waits_ms = [100, 0]
    desk.broker.throttle = SimpleNamespace(
        is_on=True,
        fetch_bytes_max=lambda client: float("inf"),
        charge_fetch=lambda client, size, spent_s: waits_ms.pop(0),
    )
    located: list[FileSlice] = []
    answer = MeteredFetch.answer

    def watched(fetch: MeteredFetch) -> FetchResponse:
        located.extend(data.records for _, data in fetch._outcomes)
        return answer(fetch)

    monkeypatch.setattr(MeteredFetch, "answer", watched)
    desk.append(0, 3)
    for broker_id in (2, 3):
        follower = Client(desk, broker_id)
        follower.fetch()
        follower.offsets[0] = 3
        follower.fetch(0)
    client = Client(desk)
    throttled = client.ask()
    assert isinstance(throttled, FetchResponse)
    assert (throttled.throttle_time_ms, throttled.responses) == (100, [])
    (held,) = located
    assert held._file is None, "its file may be closed"

    client.epoch = client.session_id = 0
    assert len(client.fetch()[0].records or b"") > 0
