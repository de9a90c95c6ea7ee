"""Groups, request by request, as told in `group/*.txt`."""

from pathlib import Path

import pytest

from tests.transcripts.group_script import GroupScript
from tests.transcripts.transcript import check

FILES = sorted((Path(__file__).parent / "group").glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    check(path, GroupScript().run)


def test_there_are_transcripts() -> None:
    assert len(FILES) >= 10
