"""Checkpoints on file systems that are not this machine's own: read where Spark writes them."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.pipelines.error import RunError
from penstock.pipelines.folder import Document, Folder, as_uri
from penstock.pipelines.run.group_member import committed_offsets
from penstock.pipelines.run_settings import RunSettings
from tests.pipelines.test_pipeline_run import big_orders, order


@pytest.fixture
def away(spark: Any, tmp_path: Path) -> Any:
    """A session whose default file system is another one, as it is where there is an HDFS."""
    root = tmp_path / "elsewhere"
    root.mkdir()
    # Hadoop keeps a file system for each name, so each test has a name of its own.
    name = f"elsewhere-{uuid.uuid4().hex}"
    own = spark.newSession()
    own.conf.set(f"fs.viewfs.mounttable.{name}.linkMergeSlash", root.as_uri())
    own.conf.set("fs.defaultFS", f"viewfs://{name}")
    return own


def run(session: Any, penstock: Any, tmp_path: Path, **settings: Any) -> Any:
    settings.setdefault("directory", tmp_path / "pipelines")
    told = RunSettings(penstock.bootstrap_servers, trigger={"availableNow": True}, **settings)
    running = big_orders().start(session, told)
    assert running.wait(120)
    return running.progress()


def committed(penstock: Any) -> dict[tuple[str, int], int]:
    return committed_offsets(RunSettings(penstock.bootstrap_servers), "big-orders", ["orders"])


def test_a_plain_path_is_one_of_this_machine(penstock: Any, away: Any, tmp_path: Path) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", [order(0, 500), "no order"])
    assert run(away, penstock, tmp_path).dead_letters == 1
    assert len(penstock.read("big-orders.dead-letters")) == 1
    assert committed(penstock) == {("orders", 0): 2}
    assert (tmp_path / "pipelines" / "big-orders" / "big" / "commits" / "0").exists()
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_start_goes_on_where_spark_was_killed_as_it_planned_its_first_batch(
    penstock: Any, spark: Any, tmp_path: Path
) -> None:
    """Spark leaves the draft of a plan, and then refuses the folder because it is not empty."""
    penstock.create_topic("orders")
    penstock.produce("orders", [order(0, 500)])
    checkpoint = tmp_path / "pipelines" / "big-orders" / "big"
    (checkpoint / "offsets").mkdir(parents=True)
    (checkpoint / "offsets" / ".0.5a3e2f60-3c5d-4d4b-8f43-0a8d5a3c8e11.tmp").write_text("v1\n")
    assert run(spark, penstock, tmp_path).output_rows == 1
    assert [each.name for each in (checkpoint / "offsets").glob("[0-9]")] == ["0"]


def test_checkpoints_go_where_they_are_told_to(penstock: Any, away: Any, tmp_path: Path) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", [order(0, 500), "no order"])
    places = {"checkpoints": f"{away.conf.get('fs.defaultFS')}/checkpoints"}
    assert run(away, penstock, tmp_path, **places).dead_letters == 1
    penstock.produce("orders", ["nor this", order(1, 500)])
    progress = run(away, penstock, tmp_path, **places)
    assert (progress.input_rows, progress.dead_letters) == (2, 1)
    assert committed(penstock) == {("orders", 0): 4}
    assert [each.key for each in penstock.read("big-orders")] == [b"o0", b"o1"]
    home = tmp_path / "elsewhere" / "checkpoints" / "big-orders"
    assert (home / "big" / "commits" / "1").exists()
    assert [each.name for each in (tmp_path / "pipelines" / "big-orders").iterdir()] == ["lock"]

    # What cannot be read is not taken for what is not there.
    for each in (home / "big" / "offsets").glob("*1*"):
        each.unlink()
    (home / "big" / "offsets" / "1").write_text("v1\n")
    with pytest.raises(RunError, match=r"offsets/1 is not what Spark writes"):
        run(away, penstock, tmp_path, **places)


def test_a_file_system_that_is_not_there_is_one_line(
    penstock: Any, pipeline_run: Callable[..., Any]
) -> None:
    penstock.create_topic("orders")
    with pytest.raises(RunError) as caught:
        pipeline_run(big_orders(), checkpoints="nowhere://bucket/pipelines")
    assert str(caught.value).startswith("nowhere://bucket/pipelines/big-orders cannot be opened")
    assert "\n" not in str(caught.value)


def test_places_as_uris(tmp_path: Path) -> None:
    assert as_uri("s3a://bucket/a/") == "s3a://bucket/a"
    assert as_uri(tmp_path / "a b") == f"file://{tmp_path}/a b"
    assert as_uri("here") == f"file://{Path.cwd()}/here"
    with pytest.raises(RunError, match="--checkpoints"):
        RunSettings(directory=Path("s3a://bucket/a"))


def test_a_document_is_always_there(spark: Any, tmp_path: Path) -> None:
    folder = Folder(spark, as_uri(tmp_path))
    document = Document(folder, "kept")
    assert document.read() is None
    document.write({"n": 1})
    assert (tmp_path / "kept.json").exists()
    before = (tmp_path / "kept.json").read_bytes()
    document.write({"n": 2})
    assert document.read() == {"n": 2}
    # As a crash leaves it that comes before the old version is deleted.
    (tmp_path / "kept.json").write_bytes(before)
    assert document.read() == {"n": 2}
    document.write({"n": 3})
    assert sorted(each for each in folder.names() if "kept" in each and "crc" not in each) == [
        "kept.2.json"
    ]
