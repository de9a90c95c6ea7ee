"""What a run of several rounds says of itself, at its end and meanwhile."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest

from tools.cluster_chaos.outcome import Result, figures, render
from tools.progress import Progress, size_of


def result_of(seed: int, nodes: int, **more: object) -> Result:
    return Result(target="penstock", seed=seed, nodes=nodes, **more)  # type: ignore[arg-type]


def test_rounds_are_added_up_by_the_size_of_their_cluster() -> None:
    killed = Counter({"leader killed": 2})
    rounds = [
        result_of(7, 3, seconds=600.0, acknowledged=10, disturbances=killed, healed_s=1.5),
        result_of(8, 5, seconds=600.0, acknowledged=5, violations=["history: lost: x"]),
        result_of(9, 3, seconds=630.0, acknowledged=20, disturbances=killed, healed_s=0.5),
    ]
    text = "\n".join(figures(rounds))
    three, five = text.split("**penstock, 5 nodes**")
    assert "- rounds: 2, each with a new cluster; seeds 7, 9" in three
    assert "- length: 20 minutes" in three or "- length: 21 minutes" in three
    assert "- disturbances: 4: leader killed 4" in three
    assert "- from peace to full in-sync sets, at most: 1.5 s" in three
    assert "- records acknowledged in the source: 30" in three
    assert "- violations: none" in three
    assert "- violations: history 1" in five
    assert text in render(rounds)
    assert "None yet." in render([])


def test_it_speaks_also_when_nothing_happens(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "log").write_bytes(bytes(3 << 20))
    assert size_of(tmp_path) == 3 << 20
    said = ""
    deadline = time.monotonic() + 60
    with Progress(tmp_path, quiet_s=0.05) as say:
        say("node 1 killed")
        while "still" not in said and time.monotonic() < deadline:
            said += capsys.readouterr().out
            time.sleep(0.01)
    assert "s] node 1 killed\n" in said
    assert "s] still: node 1 killed (3 MB on disk)\n" in said
