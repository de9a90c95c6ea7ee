"""The controller, request by request, as told in `controller/*.txt`."""

from pathlib import Path

import pytest

from tests.transcripts.controller_script import ControllerScript
from tests.transcripts.transcript import check

FILES = sorted((Path(__file__).parent / "controller").glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    check(path, ControllerScript().run)


def test_there_are_transcripts() -> None:
    assert len(FILES) >= 7
