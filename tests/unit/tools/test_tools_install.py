"""The installer that `make` runs: what pip says becomes one line, and its failure is shown."""

from __future__ import annotations

import pytest

from tools import install


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Collecting pyspark==4.2.0 (from penstock)", "looking for pyspark"),
        (
            "  Downloading pyspark-4.2.0.tar.gz (434.1 MB)",
            "downloading pyspark-4.2.0.tar.gz (434.1 MB)",
        ),
        ("  Downloading x-1.whl.metadata (5 kB)", "downloading x-1.whl (5 kB)"),
        ("  Using cached x-1.whl (5 kB)", "cached x-1.whl (5 kB)"),
        ("Building wheels for collected packages: pyspark", None),
        ("Building wheel for pyspark (pyproject.toml): started", "building pyspark"),
        ("Installing collected packages: a, b, c", "installing 3 packages"),
        ("Requirement already satisfied: pip", None),
    ],
)
def test_a_line_of_pip_becomes_a_step(line: str, said: str | None) -> None:
    assert install.step(line) == said


def test_a_failure_shows_what_pip_said(capfd: pytest.CaptureFixture[str]) -> None:
    assert install.main([".venv", "--no-index", "there-is-no-such-package"]) != 0
    out, err = capfd.readouterr()
    assert out.startswith("penstock: setting up .venv ...\n")
    assert ": failed in" in out
    assert "no-such-package" in err
