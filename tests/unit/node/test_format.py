"""Formatting directories: what is written, and what is left alone."""

from __future__ import annotations

import errno
import itertools
from collections.abc import Callable

import pytest

from penstock.metadata.release import RELEASES, level_of_release
from penstock.node.address import Address
from penstock.node.cluster_config import ClusterConfig
from penstock.node.format.error import FormatError
from penstock.node.format.feature import feature_levels, parse_features
from penstock.node.format.formatter import Formatter, NewCluster, random_id
from penstock.node.format.quorum_choice import choose_voters
from penstock.node.format.report import describe
from penstock.node.format.voter import InitialVoter, parse_initial_voters
from penstock.storage.meta_properties import read_meta_properties, write_meta_properties
from penstock.testing.disk import FaultyDisk
from tests.unit.node.test_cluster_config import BROKER, CONTROLLER, SERVER, place

LEVELS = feature_levels({}, None, dynamic=True)
ID = "MkU3OEVBNTcwNTJENDM2Qk"


def ids() -> Callable[[], bytes]:
    numbers = itertools.count(1000)
    return lambda: next(numbers).to_bytes(16)


class Bench:
    """A node with the directories /a and /b on a disk of its own."""

    def __init__(self, **settings: str) -> None:
        self.disk = FaultyDisk()
        self.cluster: ClusterConfig = place(SERVER | {"log.dirs": "/a,/b"} | settings)
        self.new = NewCluster(ID, LEVELS, (InitialVoter(1, Address("h", 1), bytes(15) + b"\xff"),))

    def format(self, cluster_id: str = ID, *, ignore_formatted: bool = False) -> list[str]:
        new = NewCluster(cluster_id, self.new.levels, self.new.voters)
        formatter = Formatter(self.cluster, new, self.disk, lambda: 1, ids())
        return list(formatter.run(formatter.unformatted(ignore_formatted=ignore_formatted)))

    def fail(self, cluster_id: str = ID, *, ignore_formatted: bool = False) -> str:
        with pytest.raises(FormatError) as refused:
            self.format(cluster_id, ignore_formatted=ignore_formatted)
        assert "\n" not in str(refused.value)
        return str(refused.value)

    def owner(self, path: str) -> dict[str, str]:
        found = read_meta_properties(self.disk, path)
        assert found is not None
        return found


def test_every_directory_has_its_own_id() -> None:
    bench = Bench()
    assert bench.format() == [
        "Formatting dynamic metadata voter directory /a with metadata.version 4.3-IV0.",
        "Formatting data directory /b with metadata.version 4.3-IV0.",
    ]
    owners = bench.owner("/a"), bench.owner("/b")
    assert owners[0].pop("directory.id") == "AAAAAAAAAAAAAAAAAAAA_w"
    assert owners[1].pop("directory.id") == "AAAAAAAAAAAAAAAAAAAD6A"
    assert owners[0] == owners[1] == {"version": "1", "cluster.id": ID, "node.id": "1"}
    assert sorted(bench.disk.listdir("/b")) == ["bootstrap.checkpoint", "meta.properties"]


def test_what_is_formatted_stays_as_it_is() -> None:
    bench = Bench()
    bench.format()
    before = bench.owner("/a"), bench.owner("/b")
    assert bench.fail().startswith("Log directory /a is already formatted. Use --ignore-formatted")
    assert bench.format(ignore_formatted=True) == [
        "All of the log directories are already formatted."
    ]
    assert (bench.owner("/a"), bench.owner("/b")) == before


def test_a_new_disk_is_added_to_a_node() -> None:
    bench = Bench()
    bench.format()
    bench.cluster = place(SERVER | {"log.dirs": "/a,/b,/c"})
    assert bench.format(ignore_formatted=True) == [
        "Formatting data directory /c with metadata.version 4.3-IV0."
    ]


def test_directories_of_others() -> None:
    bench = Bench()
    bench.format()
    said = bench.fail("other", ignore_formatted=True)
    assert said.startswith(f"/a belongs to cluster {ID}, not other: ")
    bench.cluster = place(SERVER | {"log.dirs": "/a,/b,/c", "node.id": "2"})
    said = bench.fail(ignore_formatted=True)
    assert said.startswith("/a belongs to node 1, but node.id is 2: ")
    assert not bench.disk.exists("/c")


def test_a_copied_directory() -> None:
    bench = Bench()
    bench.format()
    write_meta_properties(bench.disk, "/b", bench.owner("/a"))
    assert "/b has the directory.id of /a" in bench.fail(ignore_formatted=True)


def test_a_damaged_file_is_not_written_over() -> None:
    bench = Bench()
    bench.format()
    write_meta_properties(bench.disk, "/b", {"version": "1"})
    assert "Error loading /b/meta.properties: it has no node.id" in bench.fail()
    assert bench.owner("/b") == {"version": "1"}


@pytest.mark.parametrize(("held", "log"), [("t-0", ""), ("__cluster_metadata-0", "0.log")])
def test_data_without_an_owner_is_given_to_nobody(held: str, log: str) -> None:
    bench = Bench()
    for path in ("/b", f"/b/{held}"):
        bench.disk.mkdir(path)
    if log:
        bench.disk.open(f"/b/{held}/{log}", 64)
    assert f"/b has no meta.properties, and yet data, {held}: put a copy" in bench.fail()
    assert not bench.disk.exists("/a")


def test_a_disk_that_cannot_be_written() -> None:
    bench = Bench()
    bench.disk.write_errno = errno.EROFS
    assert bench.fail().startswith("cannot format /a: Read-only file system; mend it")
    bench.disk.write_errno = 0
    # What was begun is no obstacle.
    assert len(bench.format()) == 2


def test_power_fails_anywhere() -> None:
    """A directory says that it is formatted only when it is whole."""
    for seed in range(30):
        bench = Bench()
        bench.disk = FaultyDisk(seed)
        bench.disk.free_bytes = seed * 40
        try:
            bench.format()
        except FormatError:
            pass
        bench.disk.crash()
        bench.disk.free_bytes = None
        bench.format(ignore_formatted=True)
        lines, well = describe(bench.disk, bench.cluster.directories)
        assert well, lines
        assert sorted(bench.disk.listdir("/a")) == [
            "__cluster_metadata-0",
            "bootstrap.checkpoint",
            "meta.properties",
        ]


@pytest.mark.parametrize("text", ["", "a b", "x" * 65, "../x"])
def test_an_id_that_no_cluster_has(text: str) -> None:
    assert "`penstock storage random-uuid` makes one" in Bench().fail(text)


def test_what_the_directories_are() -> None:
    bench = Bench()
    assert describe(bench.disk, ["/b", "/a"]) == (
        ["Found problems:", "  /a does not exist", "  /b does not exist", ""],
        False,
    )
    bench.format()
    bench.disk.mkdir("/c")
    bench.disk.open("/d", 64)
    write_meta_properties(bench.disk, "/b", bench.owner("/b") | {"cluster.id": "other"})
    lines, well = describe(bench.disk, ["/a", "/b", "/c", "/d"])
    assert not well
    assert lines[:5] == ["Found log directories:", "  /a", "  /b", "  /c", ""]
    assert lines[5].startswith(f"Found metadata: {{cluster.id={ID}, directory.id=")
    assert lines[7:] == [
        "Found problems:",
        "  /c is not formatted.",
        "  /d is not a directory",
        "  Mismatched cluster IDs between storage directories.",
        "",
    ]


def test_who_votes_first() -> None:
    def choose(settings: dict[str, str], **options: object) -> tuple[InitialVoter, ...]:
        given = {"standalone": False, "initial": None, "nobody": False} | options
        return choose_voters(place(settings), new_id=ids(), **given)  # type: ignore[arg-type]

    def refused(settings: dict[str, str], **options: object) -> str:
        with pytest.raises(FormatError) as error:
            choose(settings, **options)
        return str(error.value)

    fixed = {"controller.quorum.voters": "1@h:1"}
    (alone,) = choose(SERVER, standalone=True)
    assert (alone.id, alone.address) == (1, Address("localhost", 9093))
    assert choose(SERVER, nobody=True) == choose(BROKER) == choose(CONTROLLER | fixed) == ()
    assert choose({}) == ()
    named = choose(BROKER, initial="2@b:2:MvDxzVmcRsaTz33bUuRU6A,1@[::1]:1:JEXY6aqzQY-32P5TStzaFg")
    assert [(each.id, each.address) for each in named] == [
        (1, Address("::1", 1)),
        (2, Address("b", 2)),
    ]
    assert "must specify one of the following: --standalone" in refused(CONTROLLER)
    assert "only use --standalone on a controller" in refused(BROKER, standalone=True)
    assert "cannot specify controller.quorum.voters" in refused(SERVER | fixed, standalone=True)
    assert "give only one of" in refused(SERVER, standalone=True, nobody=True)
    assert "no listener is a controller's" in refused({}, standalone=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names nobody"),
        ("1@h:9093", "expected ID@HOST:PORT:DIRECTORY"),
        ("h:9093:JEXY6aqzQY-32P5TStzaFg", "expected ID@HOST:PORT:DIRECTORY"),
        ("-1@h:9093:JEXY6aqzQY-32P5TStzaFg", "expected ID@HOST:PORT:DIRECTORY"),
        ("1@h:99999:JEXY6aqzQY-32P5TStzaFg", "expected ID@HOST:PORT:DIRECTORY"),
        ("1@:9093:JEXY6aqzQY-32P5TStzaFg", "nobody can connect there"),
        ("1@h:9093:JEXY6aqzQY-32P5TStzaF", "is no id of a directory"),
        ("1@h:9093:JEXY6aqzQY-32P5TStzaFg@", "is no id of a directory"),
        ("1@h:9093:AAAAAAAAAAAAAAAAAAAAAA", "is no id of a directory"),
        ("1@h:1:JEXY6aqzQY-32P5TStzaFg,1@g:1:MvDxzVmcRsaTz33bUuRU6A", "one node twice"),
        ("1@h:1:JEXY6aqzQY-32P5TStzaFg,2@g:1:JEXY6aqzQY-32P5TStzaFg", "one directory twice"),
    ],
)
def test_first_voters_that_cannot_be(text: str, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        parse_initial_voters(text)


def test_ids_that_mean_something_are_not_made() -> None:
    made = iter([bytes(16), b"\xf8" * 16, bytes(15) + b"\x63", b"\x01" * 16])
    assert random_id(lambda: next(made)) == b"\x01" * 16


def test_releases() -> None:
    assert level_of_release("4.3") == level_of_release("4.3-IV0") == level_of_release("4.3.1") == 30
    assert level_of_release("4.0") == 25
    assert RELEASES[17] == "3.7-IV2"
    for text in ("4", "4.4", "3.6", "3.7-IV1", "x", "", "4.3-", "4.3-IV"):
        assert level_of_release(text) is None, text


def test_features() -> None:
    levels = feature_levels({"share.version": 1}, None, dynamic=False)
    assert (levels["share.version"], levels["streams.version"], levels["kraft.version"]) == (
        1,
        1,
        0,
    )
    assert feature_levels({}, "4.0", dynamic=True) == {
        "metadata.version": 25,
        "eligible.leader.replicas.version": 0,
        "group.version": 1,
        "kraft.version": 1,
        "share.version": 0,
        "streams.version": 0,
        "transaction.version": 2,
    }
    assert feature_levels({"metadata.version": 22}, None, dynamic=True)["transaction.version"] == 0


@pytest.mark.parametrize(
    ("features", "release", "said"),
    [
        (["foo.version=1"], None, "there is no such feature; there are eligible.leader"),
        (["group.version=2"], None, "its levels are 0 to 1"),
        (["group.version"], None, "expected NAME=LEVEL"),
        (["group.version=x"], None, "expected NAME=LEVEL"),
        (["group.version=-1"], None, "expected NAME=LEVEL"),
        (["kraft.version=0"], None, "remove the option"),
        (["metadata.version=31"], None, "levels 17 .* to 30"),
        (["metadata.version=30"], "4.3", "keep --release-version"),
        (["eligible.leader.replicas.version=1"], "4.0-IV0", "needs metadata.version 23"),
        ([], "2.8", "known here are 3.7-IV2, "),
    ],
)
def test_features_that_cannot_be(features: list[str], release: str | None, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        feature_levels(parse_features(features), release, dynamic=True)
