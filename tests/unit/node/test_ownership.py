"""Who a node is, as all of its directories say."""

from __future__ import annotations

import errno

import pytest

from penstock.node.identity import IdentityError
from penstock.node.ownership import Ownership, ownership_of
from penstock.storage.meta_properties import write_meta_properties
from penstock.testing.disk import FaultyDisk, Stat
from tests.unit.node.test_cluster_config import SERVER, place
from tests.unit.node.test_format import ID, Bench, ids


def read(bench: Bench, node_id: int | None = 1, *, may_found: bool = False) -> Ownership:
    cluster = bench.cluster
    paths, metadata = cluster.directories, cluster.metadata_dir
    return ownership_of(bench.disk, paths, metadata, node_id, ids(), may_found=may_found)


def refused(bench: Bench, *, may_found: bool = False) -> str:
    with pytest.raises(IdentityError) as error:
        read(bench, may_found=may_found)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_each_directory_has_its_own_id() -> None:
    bench = Bench()
    bench.format()
    found = read(bench)
    assert set(found.directory_ids) == {"/a", "/b"}
    assert (found.identity.cluster_id, found.identity.node_id) == (ID, 1)
    assert found.identity.directory_id == found.directory_ids["/a"] != found.directory_ids["/b"]
    assert not found.unwritten
    assert read(bench, node_id=None) == found


def test_new_ones_become_a_cluster_of_one() -> None:
    bench = Bench()
    made = read(bench, node_id=None, may_found=True)
    assert made.identity.node_id == 1
    assert set(made.unwritten) == {"/a", "/b"}
    for path in made.unwritten:
        bench.disk.mkdir(path)
    made.write(bench.disk)
    again = read(bench, node_id=None)
    assert again == made._replace(unwritten={})


def test_one_more_is_not_taken_for_a_new_cluster() -> None:
    """It may be a disk that was not mounted."""
    bench = Bench()
    bench.format()
    bench.cluster = place(SERVER | {"log.dirs": "/a,/b,/c"})
    assert refused(bench, may_found=True).startswith("/c is not formatted")


def test_one_that_was_not_formatted() -> None:
    bench = Bench()
    assert refused(bench).startswith("/a is not formatted: penstock storage format -t")
    bench.format()
    bench.cluster = place(SERVER | {"log.dirs": "/a,/b,/c"})
    assert refused(bench).startswith("/c is not formatted")


def test_one_of_another_cluster_or_node() -> None:
    bench = Bench()
    bench.format()
    owner = bench.owner("/b")
    write_meta_properties(bench.disk, "/b", owner | {"cluster.id": "other"})
    assert refused(bench).startswith(f"/b belongs to cluster other, not {ID}")
    write_meta_properties(bench.disk, "/b", owner | {"node.id": "9"})
    assert refused(bench).startswith("/b belongs to node 9, but node.id is 1")
    write_meta_properties(bench.disk, "/b", bench.owner("/a"))
    assert "one is a copy of the other" in refused(bench)


def test_an_older_directory_gets_an_id() -> None:
    bench = Bench()
    bench.format()
    write_meta_properties(bench.disk, "/b", {"version": "1", "cluster.id": ID, "node.id": "1"})
    made = read(bench)
    made.write(bench.disk)
    assert read(bench).directory_ids == made.directory_ids
    assert "directory.id" in bench.owner("/b")


@pytest.mark.parametrize("path", ["/a", "/b"])
def test_a_damaged_file_is_no_failed_disk(path: str) -> None:
    bench = Bench()
    bench.format()
    write_meta_properties(bench.disk, path, {"version": "1"})
    said = refused(bench)
    assert f"Error loading {path}/meta.properties" in said and "put a copy back" in said


class OneBadDisk(FaultyDisk):
    bad: str | None = None

    def stat(self, path: str, /) -> Stat:
        if path == self.bad:
            raise OSError(errno.EIO, "Input/output error", path)
        return super().stat(path)


def test_a_failed_disk_is_left_out_unless_it_has_the_metadata() -> None:
    bench = Bench()
    bench.disk = disk = OneBadDisk()
    bench.format()
    disk.bad = "/b"
    assert set(read(bench).directory_ids) == {"/a"}
    disk.bad = "/a"
    assert refused(bench).startswith("/a cannot be read: Input/output error")
