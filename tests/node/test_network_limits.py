"""What one client may take from a node: bytes, memory, connections, time."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from struct import pack
from typing import Any

import pytest

from penstock.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from penstock.protocol.messages.api_versions import ApiVersionsRequest
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.node.wire_kit import (
    FETCH_VERSION,
    PRODUCE_VERSION,
    Wire,
    batch,
    fetch,
    fetched,
    part,
    produce,
    produced,
    values,
)

MB = 1 << 20


def rss_bytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        pytest.skip("needs /proc")
    line = next(each for each in status.read_text().splitlines() if each.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def is_served(address: str) -> bool:
    with Wire(address) as wire:
        return wire.call(ApiVersionsRequest(), 0).error_code == 0


# Requests


@pytest.mark.penstock(settings={"socket.request.max.bytes": 20_000})
def test_a_request_may_be_as_large_as_the_setting_and_no_larger(penstock: Any) -> None:
    penstock.create_topic("t")
    with Wire(penstock.bootstrap_servers) as wire:
        answer = produced(wire.call(produce("t", batch(b"x" * 19_000)), PRODUCE_VERSION))
        assert answer.error_code == 0
        wire.send(produce("t", batch(b"x" * 21_000)), PRODUCE_VERSION)
        assert wire.is_closed()
    assert is_served(penstock.bootstrap_servers)
    assert penstock.log.count("at most 20000 are taken") == 1


def test_a_thousand_requests_ahead_are_answered_in_order(penstock: Any) -> None:
    penstock.create_topic("t")
    with Wire(penstock.bootstrap_servers, 30) as wire:
        for number in range(1000):
            kind = number % 4
            if kind == 0:
                wire.send(produce("t", batch(b"%d" % number)), PRODUCE_VERSION)
            elif kind == 1:
                wire.send(fetch({"t": [part(offset=0)]}), FETCH_VERSION)
            elif kind == 2:
                asked = [MetadataRequestTopic(name="t")]
                wire.send(MetadataRequest(topics=asked), 9)
            else:
                wire.send(ApiVersionsRequest(), 0)
        offsets = []
        for number in range(1000):
            answer = wire.receive()  # checks the order by the correlation id
            if number % 4 == 0:
                offsets.append(produced(answer).base_offset)
        assert offsets == list(range(250))


def test_no_answer_to_a_producer_that_wants_none(penstock: Any) -> None:
    penstock.create_topic("t")
    with Wire(penstock.bootstrap_servers) as wire:
        for number in range(10):
            wire.send(produce("t", batch(b"%d" % number), acks=0), PRODUCE_VERSION, answered=False)
        # The next answer on this connection is that to the next question.
        found = fetched(wire.call(fetch({"t": [part()]}, max_wait_ms=2000), FETCH_VERSION))
        assert values(found["t", 0])[0] == b"0"
        answer = produced(wire.call(produce("t", batch(b"10")), PRODUCE_VERSION))
        assert answer.base_offset == 10
        # An error can only be told by hanging up.
        wire.send(produce("nowhere", batch(b"x"), acks=0), PRODUCE_VERSION, answered=False)
        assert wire.is_closed()


def test_what_waits_for_the_disk_and_what_polls_keep_their_places(penstock: Any) -> None:
    penstock.create_topic("t")
    penstock.create_topic("quiet")
    with Wire(penstock.bootstrap_servers, 30) as wire, Wire(penstock.bootstrap_servers) as other:
        wire.send(produce("t", batch(b"1")), PRODUCE_VERSION)
        wire.send(fetch({"quiet": [part()]}, max_wait_ms=60_000), FETCH_VERSION)
        wire.send(produce("t", batch(b"2")), PRODUCE_VERSION)
        wire.send(ApiVersionsRequest(), 0)
        # What was asked before the poll does not wait for it, and what was asked after it does.
        assert produced(wire.receive()).base_offset == 0
        assert not wire.has_answer(0.3)
        assert produced(other.call(produce("quiet", batch(b"3")), PRODUCE_VERSION)).error_code == 0
        assert values(fetched(wire.receive())["quiet", 0]) == [b"3"]
        assert produced(wire.receive()).base_offset == 1
        assert wire.receive().error_code == 0


# Connections


@pytest.mark.penstock(settings={"connections.max.idle.ms": 1500})
def test_idle_connections_are_closed_but_not_those_that_wait(penstock: Any) -> None:
    penstock.create_topic("t")
    with (
        Wire(penstock.bootstrap_servers) as idle,
        Wire(penstock.bootstrap_servers) as busy,
        Wire(penstock.bootstrap_servers) as polling,
    ):
        polling.send(fetch({"t": [part()]}, max_wait_ms=4000), FETCH_VERSION)
        deadline = time.monotonic() + 30
        while not idle.has_answer(0.1):
            assert busy.call(ApiVersionsRequest(), 0).error_code == 0
            assert time.monotonic() < deadline
        assert idle.is_closed()
        assert busy.call(ApiVersionsRequest(), 0).error_code == 0
        assert fetched(polling.receive())["t", 0].error_code == 0
    assert "idle for more than 1500 ms" in penstock.log


def test_a_client_that_never_reads_its_answer_is_idle_too(
    penstock_factory: Callable[..., Any],
) -> None:
    filled = penstock_factory()
    filled.create_topic("t", config={"max.message.bytes": 9 * MB})
    with Wire(filled.bootstrap_servers, 30) as wire:
        wire.call(produce("t", batch(b"x" * (8 * MB))), PRODUCE_VERSION)
    filled.stop()
    # The limit holds from here on: on a slow machine the large produce would count as idle.
    broker = penstock_factory({"connections.max.idle.ms": 1500}, filled.data_dir)
    with Wire(broker.bootstrap_servers) as wire:
        wire.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.send(fetch({"t": [part(max_bytes=9 * MB)]}), FETCH_VERSION)
        assert wire.has_answer(10)
        assert "idle for more than" not in broker.log
        deadline = time.monotonic() + 30
        while "idle for more than 1500 ms" not in broker.log:
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.mark.penstock(settings={"max.connections": 3})
def test_no_more_connections_than_allowed(penstock: Any) -> None:
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(penstock.bootstrap_servers)) for _ in range(3)]
        for wire in wires:
            assert wire.call(ApiVersionsRequest(), 0).error_code == 0
        waiting = stack.enter_context(Wire(penstock.bootstrap_servers))
        waiting.send(ApiVersionsRequest(), 0)
        assert not waiting.has_answer(0.2)
        for wire in wires:
            assert wire.call(ApiVersionsRequest(), 0).error_code == 0
        wires[0].sock.close()
        assert waiting.receive().error_code == 0


# Memory


def fill(address: str, topic: str, megabytes: int) -> None:
    data = batch(b"x" * 1_000_000)
    with Wire(address, 30) as wire:
        for _ in range(megabytes):
            assert produced(wire.call(produce(topic, data), PRODUCE_VERSION)).error_code == 0


def test_slow_consumers_cost_no_memory(penstock: Any) -> None:
    """Twenty clients ask for 50 MB, many times each, and read nothing."""
    penstock.create_topic("t", config={"flush.messages": 100_000})
    fill(penstock.bootstrap_servers, "t", 60)
    before = rss_bytes(penstock.pid)
    with ExitStack() as stack:
        for _ in range(20):
            wire = stack.enter_context(Wire(penstock.bootstrap_servers))
            for _ in range(40):
                wire.send(fetch({"t": [part(max_bytes=50 * MB)]}), FETCH_VERSION)
        time.sleep(0.3)
        assert is_served(penstock.bootstrap_servers)
        assert rss_bytes(penstock.pid) - before < 20 * MB
        # Who reads after all gets everything.
        frame = wire.receive_frame()
        assert len(frame) > 49 * MB


def test_many_small_fetches_that_nobody_reads(penstock: Any) -> None:
    """Answers too small for sendfile are copied, but not without bound."""
    penstock.create_topic("t")
    with Wire(penstock.bootstrap_servers) as wire:
        wire.call(produce("t", batch(b"x" * 30_000)), PRODUCE_VERSION)
    before = rss_bytes(penstock.pid)
    with ExitStack() as stack:
        for _ in range(4):
            wire = stack.enter_context(Wire(penstock.bootstrap_servers))
            wire.sock.setblocking(False)
            try:
                for _ in range(4000):
                    wire.send(fetch({"t": [part()]}), FETCH_VERSION)
            except BlockingIOError:
                pass
        time.sleep(0.5)
        assert is_served(penstock.bootstrap_servers)
        assert rss_bytes(penstock.pid) - before < 64 * MB


@pytest.mark.penstock(settings={"penstock.memory.request.bytes": 32 * MB})
def test_huge_requests_that_never_end_are_bounded_together(penstock: Any) -> None:
    """Thirty clients announce 20 MB each and send a little of it."""
    penstock.create_topic("t")
    before = rss_bytes(penstock.pid)
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(penstock.bootstrap_servers)) for _ in range(30)]
        for wire in wires:
            wire.sock.settimeout(0.05)
            try:
                wire.sock.sendall(pack(">i", 20 * MB) + bytes(2 * MB))
            except TimeoutError:
                pass
        time.sleep(0.3)
        assert rss_bytes(penstock.pid) - before < 48 * MB
        assert is_served(penstock.bootstrap_servers)


@pytest.mark.penstock(settings={"penstock.memory.request.bytes": 32 * MB})
def test_a_slow_huge_request_keeps_nobody_else_out(penstock: Any) -> None:
    """One client holds all it can; another's requests, in many pieces, still get through."""
    penstock.create_topic("t", config={"max.message.bytes": 5 * MB})
    with Wire(penstock.bootstrap_servers) as greedy, Wire(penstock.bootstrap_servers, 5) as wire:
        greedy.sock.sendall(pack(">i", 90 * MB) + bytes(1000))
        time.sleep(0.1)
        answer = produced(wire.call(produce("t", batch(b"x" * (3 * MB))), PRODUCE_VERSION))
        assert answer.error_code == 0


def test_large_requests_at_once_all_get_through(
    penstock_factory: Callable[..., Any],
) -> None:
    broker = penstock_factory({"penstock.memory.request.bytes": 8 * MB, "num.partitions": 1})
    broker.create_topic("t", config={"max.message.bytes": 7 * MB})
    data = batch(b"x" * (6 * MB))
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(broker.bootstrap_servers, 30)) for _ in range(4)]
        senders = [
            threading.Thread(target=wire.send, args=(produce("t", data), PRODUCE_VERSION))
            for wire in wires
        ]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join(30)
        assert sorted(produced(wire.receive()).base_offset for wire in wires) == [0, 1, 2, 3]


# Addresses


def change_limit(penstock: Any, name: str, value: str | None) -> None:
    """While it runs, by whoever is allowed to."""
    change = AlterableConfig(name=name, config_operation=int(value is None), value=value)
    resource = AlterConfigsResource(resource_type=4, resource_name="", configs=[change])
    with Wire(penstock.bootstrap_servers) as wire:
        answer = wire.call(IncrementalAlterConfigsRequest(resources=[resource]), 1)
    assert [each.error_code for each in answer.responses] == [0], answer


def is_let_in(wire: Wire) -> bool:
    try:
        return wire.call(ApiVersionsRequest(), 0).error_code == 0
    except ConnectionError:
        return False


def test_an_address_has_no_more_connections_than_it_may(penstock: Any) -> None:
    """Limits change while it runs, and a single address may have one of its own."""
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(penstock.bootstrap_servers)) for _ in range(3)]
        assert all(map(is_let_in, wires))
        change_limit(penstock, "max.connections.per.ip", "3")
        assert all(map(is_let_in, wires)), "those that are there stay"
        with Wire(penstock.bootstrap_servers) as refused:
            assert not is_let_in(refused)
        wires.pop().sock.close()
        deadline = time.monotonic() + 30
        while True:
            with Wire(penstock.bootstrap_servers) as another:
                if is_let_in(another):
                    break
            assert time.monotonic() < deadline
        assert "connections refused" in penstock.log


@pytest.mark.penstock(
    settings={
        "max.connections.per.ip": 0,
        "max.connections.per.ip.overrides": "localhost:2",
        "listener.name.plaintext.max.connections": 100,
    }
)
def test_an_address_may_have_a_limit_of_its_own(penstock: Any) -> None:
    """By name, which is looked up aside."""
    with ExitStack() as stack:
        deadline = time.monotonic() + 30
        while not is_let_in(stack.enter_context(Wire(penstock.bootstrap_servers))):
            assert time.monotonic() < deadline
        assert is_let_in(stack.enter_context(Wire(penstock.bootstrap_servers)))
        with Wire(penstock.bootstrap_servers) as third:
            assert not is_let_in(third)


def set_quota(wire: Wire, kind: str, key: str, value: float | None) -> None:
    """The default of the kind."""
    op = OpData(key=key, value=value or 0.0, remove=value is None)
    entity = RequestEntityData(entity_type=kind, entity_name=None)
    request = AlterClientQuotasRequest(entries=[RequestEntryData(entity=[entity], ops=[op])])
    assert [each.error_code for each in wire.call(request, 1).entries] == [0]


def test_what_a_throttled_producer_has_sent_ahead_is_not_begun(penstock: Any) -> None:
    penstock.create_topic("t")
    with Wire(penstock.bootstrap_servers) as admin, Wire(penstock.bootstrap_servers) as wire:
        set_quota(admin, "client-id", "producer_byte_rate", 10.0)
        wire.send_together([produce("t", batch(b"x" * 5000))] * 2, PRODUCE_VERSION)
        assert wire.receive().throttle_time_ms > 60_000
        assert not wire.has_answer(0.3)
        assert is_served(penstock.bootstrap_servers)


def test_an_address_that_connects_too_often_is_sent_away(penstock: Any) -> None:
    with Wire(penstock.bootstrap_servers) as admin:
        set_quota(admin, "ip", "connection_creation_rate", 1.0)
        deadline = time.monotonic() + 60
        refused = 0
        while not refused:
            assert time.monotonic() < deadline
            with Wire(penstock.bootstrap_servers) as wire:
                refused += not is_let_in(wire)
        set_quota(admin, "ip", "connection_creation_rate", None)
        for _ in range(20):
            assert is_served(penstock.bootstrap_servers)
