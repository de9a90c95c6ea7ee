"""Transactions, request by request, as told in `transaction/*.txt`."""

from pathlib import Path

import pytest

from tests.transcripts.transaction_script import TransactionScript
from tests.transcripts.transcript import check

FILES = sorted((Path(__file__).parent / "transaction").glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    check(path, TransactionScript().run)


def test_there_are_transcripts() -> None:
    assert len(FILES) >= 10
