"""Large values: stored by whoever sends, had back by applications, in a folder and in S3."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.client import (
    App,
    ClaimCheck,
    DeclarationError,
    DeliveryError,
    PoisonError,
    Retry,
    Sender,
)
from penstock.client.claim.reference import CLAIM_HEADER, decode_reference, reference_to
from tests.pipelines.object_store import object_store
from tests.unit.client.app.app_kit import Target, new_name

LARGE = os.urandom(300_000).hex()


@pytest.fixture(params=["file", pytest.param("s3", marks=pytest.mark.java)])
def check(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ClaimCheck]:
    if request.param == "file":
        yield ClaimCheck(f"file://{tmp_path}/claims", above=100_000)
        return
    with object_store(tmp_path / "store") as store:
        store.make_bucket("bucket")
        settings: dict[str, Any] = {
            "endpoint": store.address,
            "region": "us-east-1",
            "access_key_id": "any",
            "secret_access_key": "any",
            "client_options": {"allow_http": True},
        }
        yield ClaimCheck("s3://bucket/claims", above=100_000, settings=settings)


def test_what_is_large_goes_to_the_store_and_comes_back(check: ClaimCheck) -> None:
    target, name = Target("penstock"), new_name()
    app = App(name, target.bootstrap_servers, claim_check=check)
    seen: list[str] = []

    @app.consumer(name, output=f"{name}.out")
    async def handle(value: dict[str, str]) -> dict[str, str]:
        seen.append(value["text"])
        return value

    target.create_topic(name)
    target.create_topic(f"{name}.out")
    with Sender(target.bootstrap_servers, claim_check=check) as sender:
        sender.send(name, "k", {"text": LARGE}).result(30)
        sender.send(name, "k", {"text": "small"}).result(30)
    with app.test(target) as test:
        test.settle()
        assert seen == [LARGE, "small"]
        first, second = test.read(f"{name}.out")
    large, small = target.read(name)
    assert len(large.value or b"") < 300 and dict(large.headers) == {CLAIM_HEADER: b"1"}
    assert (json.loads(small.value or b""), small.headers) == ({"text": "small"}, [])
    assert json.loads(check.check_out(first.value)) == {"text": LARGE}
    assert json.loads(second.value or b"") == {"text": "small"}


def test_what_is_gone_is_said(check: ClaimCheck) -> None:
    value, _ = check.check_in("t", b"a")
    assert check.check_in("t", b"a")[0] == value
    check.check_in("t", b"b")
    assert check.sweep("1d") == 0
    assert check.check_out(value) == b"a"
    check._store.put("2020-01-01/t/" + "0" * 64, b"old")
    check._store.put("somebody/elses/object", b"")
    assert check.sweep("30d") == 1
    assert check.sweep("30d") == 0
    found = decode_reference(value, check.url)
    check._store.put(found.name, b"x")
    with pytest.raises(PoisonError, match="checksum"):
        check.check_out(value)
    check._store.delete(found.name)
    with pytest.raises(PoisonError, match="is gone"):
        check.check_out(value)


@pytest.mark.parametrize(
    "url",
    [
        "file:///other/2026-01-01/t/{sha256}",
        "file:///claims/../etc/2026-01-01/t/{sha256}",
        "file:///claims/2026-01-01/../{sha256}/x",
        "file:///claims/2026-01-01/t/other",
    ],
)
def test_a_record_names_only_what_is_in_the_store(url: str) -> None:
    honest = reference_to(b"x", "file:///claims", "t", "2026-01-01")
    assert decode_reference(honest.encode(), "file:///claims") == honest
    forged = {"claim": url.format(sha256=honest.sha256), "bytes": 1, "sha256": honest.sha256}
    with pytest.raises(ValueError, match="not in"):
        decode_reference(json.dumps(forged).encode(), "file:///claims")


def test_a_store_that_is_away_is_waited_for(tmp_path: Path) -> None:
    target, name = Target("penstock"), new_name()
    folder = tmp_path / "claims"
    check = ClaimCheck(f"file://{folder}", above=10)
    app = App(name, target.bootstrap_servers, claim_check=check)
    seen: list[str] = []

    @app.consumer(name, retry=Retry("1m", attempts=1))
    async def handle(value: str) -> None:
        seen.append(value)

    target.create_topic(name)
    with Sender(target.bootstrap_servers, claim_check=check) as sender:
        sender.send(name, "k", "x" * 50).result(30)
        away = folder.rename(tmp_path / "away")
        folder.write_text("not a folder")
        with pytest.raises(DeliveryError, match="claims"):
            sender.send(name, "k", "y" * 50)
    with app.test(target) as test:
        test.settle()
        assert seen == []
        folder.unlink()
        away.rename(folder)
        test.advance("2m")
        assert seen == ["x" * 50]


def test_an_application_without_a_claim_check_says_so(tmp_path: Path) -> None:
    target, name = Target("penstock"), new_name()
    app = App(name, target.bootstrap_servers)

    @app.consumer(name)
    async def handle(value: str) -> None:
        raise AssertionError("never")

    target.create_topic(name)
    check = ClaimCheck(f"file://{tmp_path}", above=10)
    with Sender(target.bootstrap_servers, claim_check=check) as sender:
        sender.send(name, "k", "x" * 50).result(30)
    with app.test(target) as test:
        test.settle()
        (letter,) = test.read(f"{name}.dead-letters")
    assert b"claim_check=" in (dict(letter.headers)["penstock.dlq.message"] or b"")
    assert check.check_out(letter.value) == b"x" * 50


def test_a_store_of_no_kind() -> None:
    with pytest.raises(DeclarationError, match="no such store"):
        ClaimCheck("ftp://host")
    with pytest.raises(DeclarationError, match="'nope' is not valid"):
        ClaimCheck("s3://bucket", settings={"nope": 1})
