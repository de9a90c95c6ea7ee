"""A node that is told to stop ends, whatever hangs in it."""

from __future__ import annotations

import asyncio
import gc
import signal
from pathlib import Path
from typing import Any, NoReturn

import pytest

from penstock.node.address import Address
from penstock.node.main import _serve
from penstock.node.node import Node
from penstock.node.options import NodeOptions
from penstock.settings.config import BrokerConfig
from penstock.telemetry.clock import SystemClock
from tests.node.node_kit import running
from tests.node.test_full_disk import create, read_all
from tests.node.wire_kit import PRODUCE_VERSION, Wire, batch, produce, produced


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DRAIN_TIMEOUT_S", "STOP_TIMEOUT_S"):
        monkeypatch.setattr(f"penstock.node.node.{name}", 0.2)


@pytest.mark.parametrize(("part", "name"), [("_broker", "coordinators"), ("_upkeep", "upkeep")])
def test_what_does_not_end_is_named_and_left_behind(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, part: str, name: str
) -> None:
    with running(tmp_path / "data") as node, Wire(node.address) as wire:
        assert wire.call(create("t"), 7).topics[0].error_code == 0
        assert produced(wire.call(produce("t", batch(b"kept")), PRODUCE_VERSION)).error_code == 0
        forever = asyncio.Event()
        node.node.__dict__[part] = Hanging(node.node.__dict__[part], forever)
        node.stop()
    (said,) = (one for one in caplog.records if "did not end in time" in one.getMessage())
    assert said.fields["part"] == name  # type: ignore[attr-defined]
    with running(tmp_path / "data") as node, Wire(node.address) as wire:
        assert not node.node.log_dirs.was_clean
        assert read_all(wire) == [b"kept"]


class Hanging:
    """Everything of a part but its end, which never comes."""

    def __init__(self, part: Any, forever: asyncio.Event) -> None:
        self._part = part
        self._forever = forever

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)

    async def close(self) -> None:
        await self._forever.wait()

    stop = close


def test_the_process_is_ended_by_force(tmp_path: Path) -> None:
    options = NodeOptions(Address("127.0.0.1", 0), None, (str(tmp_path / "data"),))
    node = Node(BrokerConfig(), options, SystemClock())

    class Left(BaseException):
        """In the place of the process's end."""

    def leave() -> NoReturn:
        raise Left

    def announce(started: Node) -> None:
        started.__dict__["_broker"] = Hanging(started.__dict__["_broker"], asyncio.Event())
        signal.raise_signal(signal.SIGTERM)

    with pytest.raises(Left):
        asyncio.run(_serve(node, announce, leave))
    gc.unfreeze()
    gc.set_threshold(700, 10, 10)
