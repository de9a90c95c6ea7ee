"""HTTP services and search indexes: repeated batches, answers that pass, answers that do not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from penstock.pipelines import sinks
from penstock.pipelines.error import DeclarationError, RunError, TransientError
from penstock.pipelines.retry import Retry
from penstock.pipelines.sinks.http_request import Receiver, Requests, joined
from penstock.pipelines.sinks.processed import ProcessedEvents
from tests.pipelines.http_service import BulkService, IdempotentService, serving
from tests.pipelines.sink_kit import work_off
from tests.pipelines.test_pipeline_sink_lake import drop_rows, undo_last_commit

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORIGIN = "_topic string, _partition int, _offset long"
QUICK = Retry(attempts_max=4, backoff_s=0.01, backoff_max_s=0.01)
Stream = Callable[..., None]


@pytest.fixture
def service() -> Iterator[IdempotentService]:
    found = IdempotentService()
    with serving(found):
        yield found


@pytest.fixture
def index() -> Iterator[BulkService]:
    found = BulkService()
    with serving(found):
        yield found


@pytest.fixture
def stream(spark: SparkSession, tmp_path: Path) -> Stream:
    def run(sink: sinks.Sink, schema: str) -> None:
        work_off(spark, tmp_path, sink, schema)

    return run


def records(*offsets: int, partition: int = 0) -> list[dict[str, Any]]:
    return [
        {"_topic": "orders", "_partition": partition, "_offset": each, "amount": each}
        for each in offsets
    ]


def test_a_repeated_batch_has_the_same_keys_and_bodies(
    service: IdempotentService, tmp_path: Path, stream: Stream
) -> None:
    drop_rows(tmp_path / "in", 1, records(7, 5, 6) + records(2, partition=1))
    service.statuses = [503]
    sink = sinks.http(f"{service.url}/orders", rows_per_request=2, retry=QUICK)
    stream(sink, f"{ORIGIN}, amount int")
    wanted = {
        "pipe.out:orders:0:5..6": [{"amount": 5}, {"amount": 6}],
        "pipe.out:orders:0:7..7": [{"amount": 7}],
        "pipe.out:orders:1:2..2": [{"amount": 2}],
    }
    assert service.taken == wanted
    undo_last_commit(tmp_path / "checkpoint")
    stream(sink, f"{ORIGIN}, amount int")
    assert service.taken == wanted
    assert len(service.requests) == 7


def test_what_was_answered_is_not_sent_again_with_a_table_of_events(
    service: IdempotentService, tmp_path: Path, stream: Stream
) -> None:
    drop_rows(tmp_path / "in", 1, records(0, 1))
    events = f"sqlite:///{tmp_path}/events.db"
    sink = sinks.http(service.url, retry=QUICK, processed=events)
    stream(sink, f"{ORIGIN}, amount int")
    assert list(service.taken) == ["pipe.out:orders:0:0", "pipe.out:orders:0:1"]
    undo_last_commit(tmp_path / "checkpoint")
    stream(sink, f"{ORIGIN}, amount int")
    assert len(service.requests) == 2


def test_a_refusal_stops_the_run_and_two_rows_of_one_id_do(
    service: IdempotentService, tmp_path: Path, stream: Stream
) -> None:
    drop_rows(tmp_path / "in", 1, records(0))
    service.statuses = [400]
    sink = sinks.http(service.url, retry=QUICK)
    with pytest.raises(Exception, match=r"pipe\.out:orders:0:0: 400"):
        stream(sink, f"{ORIGIN}, amount int")
    assert len(service.requests) == 1
    drop_rows(tmp_path / "in", 2, records(1, 1))
    with pytest.raises(Exception, match="several rows have the id orders:0:1"):
        stream(sink, f"{ORIGIN}, amount int")


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 503])
def test_what_passes_is_tried_again(service: IdempotentService, status: int) -> None:
    requests = Requests(Receiver(service.url, retry=QUICK))
    service.statuses = [status, status]
    requests.post(b"1", "a", {"Idempotency-Key": "a"})
    assert service.requests == [("a", "1")] * 3
    service.statuses = [status] * 4
    with pytest.raises(TransientError, match=f": b: {status} "):
        requests.post(b"2", "b", {"Idempotency-Key": "b"})
    requests.close()


@pytest.mark.parametrize("status", [302, 400, 401, 404, 413, 422])
def test_what_does_not_pass_is_not(service: IdempotentService, status: int) -> None:
    requests = Requests(Receiver(f"{service.url}/x?token=secret", retry=QUICK))
    service.statuses = [status]
    with pytest.raises(RunError, match=f"refused by .*/x: a: {status} ") as caught:
        requests.post(b"1", "a", {"Idempotency-Key": "a"})
    assert "secret" not in str(caught.value)
    assert len(service.requests) == 1
    requests.close()


def test_a_service_that_is_away_may_come_back() -> None:
    requests = Requests(Receiver("http://127.0.0.1:9/", retry=QUICK, timeout_s=5.0))
    with pytest.raises(TransientError, match=r"127\.0\.0\.1/: a: Connection"):
        requests.post(b"1", "a", {})


def test_documents_are_written_over_and_deleted(
    index: BulkService, tmp_path: Path, stream: Stream
) -> None:
    schema = "id string, amount int, v long, _deleted boolean"
    sink = sinks.elasticsearch("orders", url=index.url, key="id", order="v", retry=QUICK)
    index.busy = ["b"]
    drop_rows(tmp_path / "in", 1, [{"id": each, "amount": 1, "v": 5} for each in "abc"])
    stream(sink, schema)
    assert sorted(index.documents) == ["a", "b", "c"]
    changes = [{"id": "a", "amount": 9, "v": 7}, {"id": "a", "amount": 8, "v": 6}]
    changes += [{"id": "b", "v": 6, "_deleted": True}, {"id": "x", "v": 1, "_deleted": True}]
    # Older than what is there.
    changes += [{"id": "c", "amount": 0, "v": 4}]
    drop_rows(tmp_path / "in", 2, changes)
    stream(sink, schema)
    wanted = {"a": {"id": "a", "amount": 9, "v": 7}, "c": {"id": "c", "amount": 1, "v": 5}}
    assert index.documents == wanted
    undo_last_commit(tmp_path / "checkpoint")
    stream(sink, schema)
    assert index.documents == wanted


def test_a_document_that_is_refused_is_named(
    index: BulkService, tmp_path: Path, stream: Stream
) -> None:
    drop_rows(tmp_path / "in", 1, [{**records(3)[0], "amount": "many"}])
    sink = sinks.elasticsearch("orders", url=index.url, retry=QUICK)
    with pytest.raises(Exception, match=r"document orders:0:3 of orders was refused: failed to"):
        stream(sink, f"{ORIGIN}, amount string")


def test_what_cannot_be_declared(tmp_path: Path, stream: Stream) -> None:
    with pytest.raises(DeclarationError, match="not the address"):
        sinks.http("localhost/x")
    with pytest.raises(DeclarationError, match="id of several columns"):
        sinks.http("http://localhost/x", id="id", rows_per_request=10)
    drop_rows(tmp_path / "in", 1, [{"id": "a", "at": "x"}])
    with pytest.raises(DeclarationError, match="no _topic, _partition, _offset"):
        stream(sinks.http("http://localhost/x"), "id string")
    with pytest.raises(DeclarationError, match="whole number"):
        index = sinks.elasticsearch("x", url="http://localhost", key="id", order="at")
        stream(index, "id string, at string")
    assert "secret" not in repr(sinks.http("http://h", headers={"Authorization": "secret"}))


def test_ids_of_several_values_are_never_the_same() -> None:
    assert joined(("orders", 0, 7)) == "orders:0:7"
    assert joined(("a:b", "c")) != joined(("a", "b:c"))
    assert joined(("a:b",)) == "a:b"


def test_an_event_is_processed_once_with_its_effect(tmp_path: Path) -> None:
    events = ProcessedEvents(f"sqlite:///{tmp_path}/events.db", "out")
    events.create()
    with events.once("a") as cursor:
        assert cursor is not None
        cursor.execute("create table effects (what text)")
        cursor.execute("insert into effects values ('a')")
    with pytest.raises(ZeroDivisionError), events.once("b") as cursor:
        assert cursor is not None
        cursor.execute("insert into effects values ('b')")
        raise ZeroDivisionError
    with events.once("a") as cursor:
        assert cursor is None
    assert (events.has("a"), events.has("b")) == (True, False)
    assert not ProcessedEvents(events.url, "other").has("a")
    with events.once("c") as cursor:
        assert cursor is not None
        assert cursor.execute("select what from effects").fetchall() == [("a",)]


def test_the_services_of_these_tests_say_no(service: IdempotentService, index: BulkService) -> None:
    assert service.answer(None, "1")[0] == 400
    assert [service.answer("k", each)[0] for each in "112"] == [200, 200, 422]
    lines = [{"delete": {"_index": "i", "_id": "x"}}]
    assert (
        json.loads(index.answer(None, json.dumps(lines[0]))[1])["items"][0]["delete"]["status"]
        == 404
    )
