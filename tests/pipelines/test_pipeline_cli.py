"""`penstock pipeline` as a person uses it: processes, signals, a kill; the docs' own pipeline."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.patience import wait_until
from tools.detector import descendants, wait_gone

PATIENCE_S = 600.0
"""The first start of Spark may fetch its jars."""

PIPELINE = """
from penstock.pipelines import decode, pipeline, sinks, sources


@pipeline(
    inputs={"orders": sources.topic("orders", decode=decode.json("id string, amount double"))},
    outputs={"big": sinks.topic("big-orders")},
)
def big_orders(orders):
    return orders.where("amount > 100").selectExpr("id AS key", "to_json(struct(*)) AS value")
"""

# A function in a module beside the pipelines', which workers must find as well.
PRICES = """
def doubled(amount):
    return amount * 2
"""
SHOP = """
import prices
from pyspark.sql.functions import udf

from penstock.pipelines import decode, pipeline, sinks, sources

ORDERS = sources.topic("orders", decode=decode.json("id string, amount double"))


@pipeline(inputs={"orders": ORDERS}, outputs={"doubles": sinks.topic("doubles")})
def doubles(orders):
    amount = udf(prices.doubled, "double")("amount")
    return orders.select(orders.id.alias("key"), amount.cast("string").alias("value"))


@pipeline(inputs={"orders": ORDERS}, outputs={"kept": sinks.parquet()})
def kept(orders):
    return orders.select("id", "amount")


@pipeline(inputs={"gone": sources.topic("gone")}, outputs={"out": sinks.topic("out")})
def lost(gone):
    return gone.select("value")
"""


def write_shop(folder: Path) -> None:
    folder.mkdir()
    (folder / "prices.py").write_text(PRICES)
    (folder / "shop.py").write_text(SHOP)


class Terminal:
    def __init__(self, folder: Path, servers: str) -> None:
        self.folder = folder
        self.servers = servers
        self.started: list[subprocess.Popen[str]] = []
        (folder / "orders.py").write_text(PIPELINE)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "penstock", "-b", self.servers, "pipeline", *arguments]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, cwd=self.folder, stdout=pipe, stderr=pipe, text=True)
        self.started.append(process)
        return process

    def run(self, *arguments: str) -> tuple[int, str, str]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=300)
        return process.returncode, out, err

    def status(self, name: str = "big-orders") -> Any:
        code, out, _ = self.run("status", name, "--json")
        return json.loads(out) if code == 0 else None

    def said(self, name: str) -> Any:
        """The same without a process of its own, to be asked often."""
        file = self.folder / "penstock-pipelines" / name / "status.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def has(self, name: str, **progress: int) -> bool:
        return progress.items() <= self.said(name).get("progress", {}).items()


@pytest.fixture
def terminal(penstock: Any, tmp_path: Path) -> Iterator[Terminal]:
    found = Terminal(tmp_path, penstock.bootstrap_servers)
    yield found
    for process in found.started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def order(number: int) -> str:
    return json.dumps({"id": f"o{number}", "amount": 500})


def keys(penstock: Any) -> list[bytes]:
    try:
        return sorted(each.key for each in penstock.read("big-orders"))
    except Exception:
        return []


@pytest.mark.timeout(1800)
def test_run_status_kill_resume_and_stop(penstock: Any, terminal: Terminal) -> None:
    penstock.create_topic("orders", partitions=2)
    penstock.produce("orders", [order(each) for each in range(3)])
    first = terminal.start("run", "orders.py:big_orders", "--json", "--metrics-port", "0")
    wait_until(
        lambda: len(keys(penstock)) == 3 and terminal.has("big-orders", input_rows=3),
        patience_s=PATIENCE_S,
    )
    status = terminal.status()
    assert (status["state"], status["pid"]) == ("running", first.pid)

    code, _, err = terminal.run("run", "orders.py:big_orders")
    assert code == 1
    assert err == (
        f"penstock: big-orders runs already in penstock-pipelines/big-orders (process {first.pid}):"
        " stop it with `penstock pipeline stop big-orders`\n"
    )
    children = descendants(first.pid)
    os.kill(first.pid, signal.SIGKILL)
    assert first.stdout is not None
    assert json.loads(first.stdout.readline())["pipeline"] == "big-orders"
    first.wait()
    assert terminal.status()["state"] == "killed"
    # Spark's JVM outlives its driver for a moment, and would work off what comes now.
    assert wait_gone(children, 60)

    penstock.produce("orders", [order(each) for each in range(3, 6)])
    second = terminal.start("run", "orders.py:big_orders")
    wait_until(lambda: len(keys(penstock)) == 6, patience_s=PATIENCE_S)
    wait_until(lambda: terminal.said("big-orders")["pid"] == second.pid, patience_s=PATIENCE_S)
    wait_until(lambda: terminal.has("big-orders", input_rows=3), patience_s=PATIENCE_S)
    _, listed, _ = terminal.run("list")
    assert [line.split()[:2] for line in listed.splitlines()[1:]] == [
        ["fraud", "never"],
        ["saga-funnel", "never"],
        ["big-orders", "running"],
    ]
    assert terminal.run("stop", "big-orders") == (0, "stopped big-orders\n", "")
    out, err = second.communicate(timeout=60)
    assert (second.returncode, err) == (0, "")
    assert out.endswith("big-orders ended: 3 records in, 3 out\n")
    assert keys(penstock) == [f"o{each}".encode() for each in range(6)]
    code, shown, _ = terminal.run("status", "big-orders")
    assert "big-orders  stopped" in shown and "TOPIC   PARTITION" in shown


@pytest.mark.timeout(1800)
def test_several_in_one_session(penstock: Any, terminal: Terminal) -> None:
    """One that fails leaves the others alone, and so does one that is stopped."""
    write_shop(terminal.folder / "code")
    penstock.create_topic("orders")
    penstock.produce("orders", [order(each) for each in range(3)])
    names = [f"code/shop.py:{each}" for each in ("doubles", "lost", "kept")]
    process = terminal.start("run", *names, "--ui", "0")
    wait_until(lambda: terminal.has("kept", output_rows=3), patience_s=PATIENCE_S)
    assert list((terminal.folder / "penstock-pipelines/tables/kept").glob("batch=*/*.parquet"))
    lost = terminal.said("lost")
    assert (lost["state"], "there is no topic gone" in lost["error"]) == ("failed", True)

    assert terminal.run("stop", "kept") == (0, "stopped kept\n", "")
    wait_until(lambda: terminal.said("kept")["state"] == "stopped", patience_s=PATIENCE_S)
    penstock.produce("orders", [order(3)])
    wait_until(lambda: terminal.has("doubles", output_rows=4), patience_s=PATIENCE_S)
    status = terminal.status("doubles")
    with urllib.request.urlopen(status["spark_ui"]) as answer:
        assert answer.status == 200
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 1
    # Before it stands what a first start says of the jars it gets.
    assert [line.partition(" at ")[0] for line in err.splitlines()[-2:]] == [
        "penstock: there is no topic gone",
        "penstock: 1 of 3 pipelines failed: lost",
    ]
    assert "doubles ended: 4 records in, 4 out\n" in out
    assert f"Spark's web UI is at {status['spark_ui']}\n" in out
    assert {each.value for each in penstock.read("doubles")} == {b"1000.0"}


def test_what_cannot_be_is_one_line(terminal: Terminal) -> None:
    for arguments, said in (
        (("run", "nothing"), "there is no pipeline nothing: known are fraud, saga-funnel"),
        (("run", "orders.py:small"), "orders.py has no pipeline small: it has big_orders"),
        (("status", "big-orders"), "big-orders never ran in penstock-pipelines"),
        (("stop", "big-orders"), "big-orders does not run in penstock-pipelines"),
        (("run", "orders.py", "--once", "--every", "1 second"), "do not go together"),
        (("run", "orders.py", "orders.py"), "big-orders is named twice"),
        (("run", "orders.py", "--dir", "s3a://bucket"), "give the URI as --checkpoints"),
    ):
        code, out, err = terminal.run(*arguments)
        assert (code > 0, out) == (True, "")
        assert said in err and err.count("\n") == 1


def test_metrics_for_prometheus() -> None:
    from penstock.pipelines.run.metric import RunMetrics
    from penstock.pipelines.run.progress import PartitionProgress, Progress

    partition = PartitionProgress("orders", 1, position=5, end=7)
    now = Progress(input_rows=5, batch_ms_p99=250.0, partitions=(partition,))
    server = RunMetrics({"big-orders": lambda: now, "other": Progress}).serve(0)
    try:
        url = f"http://127.0.0.1:{server.server_port}/metrics"
        with urllib.request.urlopen(url) as answer:
            text = answer.read().decode()
    finally:
        server.shutdown()
        server.server_close()
    assert 'penstock_pipeline_input_rows_total{pipeline="big-orders"} 5.0' in text
    assert 'penstock_pipeline_input_rows_total{pipeline="other"} 0.0' in text
    assert text.count("# HELP penstock_pipeline_input_rows_total ") == 1
    assert 'batch_seconds{pipeline="big-orders",quantile="0.99"} 0.25' in text
    assert 'lag{partition="1",pipeline="big-orders",topic="orders"} 2.0' in text


def test_the_live_view_shows_rates_lag_and_what_was_set_aside() -> None:
    from rich.console import Console

    from penstock.cli.pipeline_view import render
    from penstock.pipelines.run.progress import PartitionProgress, Progress

    now = Progress(
        input_rate=1234.0,
        input_rows=9000,
        dead_letters=7,
        late=2,
        partitions=tuple(PartitionProgress("orders", each, 10, 30) for each in range(20)),
    )
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(render("big-orders", "b:1", now, 5.0))
    text = console.export_text()
    assert "9,000 records, 1,234/s" in text
    assert "400 records" in text and "and 4 more" in text
    assert "dead letters   7" in text and "late           2" in text
