"""Which directories a value of cordoned.log.dirs means, and which values are refused."""

from __future__ import annotations

import pytest

from penstock.node.main import settled_options
from penstock.settings.config import BrokerConfig
from penstock.settings.cordon import check_cordoned, cordoned_among
from penstock.settings.error import SettingError

BOTH = ("/a", "/b")


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("", set()),
        ("/a", {"/a"}),
        (" /b/ , /a", {"/a", "/b"}),
        ("/a,/a", {"/a"}),
        ("*", {"/a", "/b"}),
    ],
)
def test_what_is_named_is_meant(value: str, meant: set[str]) -> None:
    names = BrokerConfig({"cordoned.log.dirs": value}).cordoned_log_dirs
    check_cordoned(BOTH, names)
    assert cordoned_among(BOTH, names) == meant


@pytest.mark.parametrize(
    ("names", "complaint"),
    [
        (["*", "/a"], "it must not contain other values"),
        (["/x", "/a", "/y"], "Missing entries : /x, /y"),
    ],
)
def test_what_means_no_directory_is_refused(names: list[str], complaint: str) -> None:
    with pytest.raises(SettingError, match=complaint.replace("*", r"\*")):
        check_cordoned(BOTH, names)


def test_a_name_that_is_there_no_longer_means_nothing() -> None:
    assert cordoned_among(BOTH, ["/gone", "/a"]) == {"/a"}


@pytest.mark.parametrize(
    ("data_dir", "value", "refused"),
    [
        (None, "/a/", False),
        (None, "*", False),
        (None, "/c", True),
        ("/c", "/c", False),
        ("/c", "/a", True),
    ],
)
def test_a_node_does_not_start_with_a_directory_it_has_not(
    data_dir: str | None, value: str, refused: bool
) -> None:
    config = BrokerConfig.load(None, ["log.dirs=/a,/b", f"cordoned.log.dirs={value}"])
    if refused:
        with pytest.raises(SettingError, match="must be present"):
            settled_options(config, None, None, data_dir, None)
    else:
        settled_options(config, None, None, data_dir, None)
