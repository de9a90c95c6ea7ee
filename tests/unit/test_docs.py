"""The documentation: every page is in the index, and every relative link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.cluster_chaos import outcome as chaos
from tools.durability import outcome as crash
from tools.exactly_once import outcome as copying
from tools.fraud import outcome as fraud
from tools.page import read_section

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)


def pages() -> list[Path]:
    """All but those in hidden folders and in what a build leaves."""
    found = sorted(ROOT.rglob("*.md"))
    inside = [(page, page.relative_to(ROOT).parts) for page in found]
    return [page for page, parts in inside if parts[0] != "build" and parts[0][0] != "."]


def links(text: str) -> list[str]:
    """Targets of links, those to other sites left out."""
    found = _LINK.findall(_CODE.sub("", text))
    return [one for one in found if not re.match(r"[a-z]+:", one)]


def anchors(page: Path) -> set[str]:
    """As the usual renderers make them of headings."""
    headings = _HEADING.findall(re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M))
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


def broken(page: Path, text: str) -> list[str]:
    found = []
    for target in links(text):
        path, _, anchor = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        if not other.exists() or (anchor and anchor not in anchors(other)):
            found.append(target)
    return found


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken(page, page.read_text()) == []


def test_every_page_is_in_the_index() -> None:
    index = DOCS / "README.md"
    named = {(DOCS / one.partition("#")[0]).resolve() for one in links(index.read_text())}
    assert [page for page in pages() if DOCS in page.parents and page not in {*named, index}] == []
    assert "docs/README.md" in links((ROOT / "README.md").read_text())


def test_a_broken_link_is_found() -> None:
    good = "[b](https://example.org) `[c](code.md)` [e](README.md)"
    text = f"[a](nowhere.md) {good} [d](README.md#nowhere)"
    assert broken(DOCS / "x.md", text) == ["nowhere.md", "README.md#nowhere"]


@pytest.mark.parametrize(
    ("heading", "about"),
    [
        (crash.HEADING, crash.ABOUT),
        (copying.HEADING, copying.ABOUT),
        (chaos.HEADING, chaos.ABOUT),
        (fraud.HEADING, fraud.ABOUT),
        (fraud.ACCURACY_HEADING, fraud.ABOUT_ACCURACY),
    ],
)
def test_the_reliability_page_says_what_its_tools_would_write(heading: str, about: str) -> None:
    assert about in read_section(DOCS / "reliability.md", heading)
