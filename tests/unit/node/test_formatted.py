"""Who a node is, as all of its directories say."""

from __future__ import annotations

import errno

import pytest

from penstock.node.formatted import read_identities
from penstock.node.identity import IdentityError
from penstock.storage.meta_properties import write_meta_properties
from penstock.testing.disk import FaultyDisk, Stat
from tests.unit.node.test_cluster_config import SERVER, place
from tests.unit.node.test_format import ID, Bench, ids


def refused(bench: Bench) -> str:
    with pytest.raises(IdentityError) as error:
        read_identities(bench.disk, bench.cluster, ids())
    assert "\n" not in str(error.value)
    return str(error.value)


def test_each_directory_has_its_own_id() -> None:
    bench = Bench()
    bench.format()
    found = read_identities(bench.disk, bench.cluster, ids())
    assert set(found) == {"/a", "/b"}
    assert {(each.cluster_id, each.node_id) for each in found.values()} == {(ID, 1)}
    assert found["/a"].directory_id != found["/b"].directory_id


def test_one_that_was_not_formatted() -> None:
    bench = Bench()
    assert refused(bench).startswith("/a is not formatted: `penstock storage format -t")
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
    made = read_identities(bench.disk, bench.cluster, ids())["/b"].directory_id
    assert read_identities(bench.disk, bench.cluster, ids())["/b"].directory_id == made
    assert "directory.id" in bench.owner("/b")


@pytest.mark.parametrize("path", ["/a", "/b"])
def test_a_damaged_file_is_no_failed_disk(path: str) -> None:
    bench = Bench()
    bench.format()
    write_meta_properties(bench.disk, path, {"version": "1"})
    assert f"Error loading {path}/meta.properties" in refused(bench)


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
    assert set(read_identities(bench.disk, bench.cluster, ids())) == {"/a"}
    disk.bad = "/a"
    assert refused(bench).startswith("/a cannot be read: Input/output error")
