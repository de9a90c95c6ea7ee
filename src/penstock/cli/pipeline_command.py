"""`penstock pipeline`: what is typed, and what is printed. Spark is imported by `run` alone."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.argument import (
    Json,
    MetricsHost,
    MetricsPort,
    ProgressJson,
    cluster_of,
    quiet_app,
)
from penstock.cli.cluster import key_values
from penstock.cli.extra import missing_extra
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.help import PlainCommand
from penstock.cli.output import print_json, print_line, print_table

if TYPE_CHECKING:
    from penstock.pipelines.run.runner import Runnable
    from penstock.pipelines.run_settings import RunSettings


class SparkLog(StrEnum):
    DEBUG = "DEBUG"
    INFO = "INFO"
    WARN = "WARN"
    ERROR = "ERROR"
    OFF = "OFF"


app = quiet_app("Data pipelines on Spark: list, run, status, stop.")

Name = Annotated[
    str, typer.Argument(metavar="PIPELINE", show_default=False, help="Name of the pipeline.")
]
Directory = Annotated[
    Path,
    typer.Option(
        "--dir",
        metavar="DIR",
        envvar="PENSTOCK_PIPELINES_DIR",
        help="Local folder of lock and status.",
    ),
]
_DIRECTORY = Path("penstock-pipelines")
# Between two of Spark's real-time batches rows stall for a moment: so they are long.
_REAL_TIME_BATCH = "5 minutes"


@app.command("list", cls=PlainCommand)
def list_command(directory: Directory = _DIRECTORY, as_json: Json = False) -> None:
    """List pipelines: those that come with Penstock, and those that ran here."""
    from penstock.pipelines.run.catalogue import BUILT_IN
    from penstock.pipelines.run.status import read_status

    found = sorted(directory.iterdir()) if directory.is_dir() else []
    homes = [each for each in found if each.is_dir()]
    seen = {each.name: status for each in homes if (status := read_status(each)) is not None}
    rows = [
        {
            "pipeline": name,
            "state": seen[name]["state"] if name in seen else "never ran",
            "about": BUILT_IN[name][1] if name in BUILT_IN else "",
        }
        for name in dict.fromkeys((*BUILT_IN, *seen))
    ]
    if as_json:
        print_json(rows)
    else:
        print_table(("pipeline", "state", "about"), [list(each.values()) for each in rows])


@app.command("run")
def run_command(
    ctx: typer.Context,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="PIPELINE...", show_default=False, help="Names, file.py:name, or module:name."
        ),
    ],
    directory: Directory = _DIRECTORY,
    checkpoints: Annotated[
        str | None,
        typer.Option(
            metavar="URI",
            envvar="PENSTOCK_PIPELINES_CHECKPOINTS",
            help="Where checkpoints go, such as s3a://bucket/path. Default: the folder of --dir.",
        ),
    ] = None,
    state: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="Where a keyed pipeline keeps its states: topic, or spark (its state store).",
        ),
    ] = None,
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="Spark's master. Default: local[*].")
    ] = None,
    py_files: Annotated[
        list[str] | None,
        typer.Option(
            "--py-files", metavar="FILE", help="More Python code for executors: .py, .zip or .egg."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="KEY=VALUE", help="A Spark setting."),
    ] = None,
    starting: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="PLACE",
            help="Where a first run starts: earliest, latest, a time, -2h, or offsets as JSON.",
        ),
    ] = "earliest",
    ending: Annotated[
        str | None,
        typer.Option("--to", metavar="PLACE", help="End the run at this place."),
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Start where this run, one with --to, ends."),
    ] = None,
    before: Annotated[
        str | None, typer.Option(metavar="RUN", help="End where this run has begun.")
    ] = None,
    run_as: Annotated[
        str | None,
        typer.Option("--as", metavar="RUN", help="Another name, with checkpoints of its own."),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--output", metavar="NAME=WHERE", help="Another topic, table or folder of an output."
        ),
    ] = None,
    from_group: Annotated[
        bool, typer.Option("--from-group", help="Start at the consumer group's committed offsets.")
    ] = False,
    once: Annotated[
        bool, typer.Option("--once", help="Process what the topics hold now, then end.")
    ] = False,
    every: Annotated[
        str | None,
        typer.Option(metavar="INTERVAL", help='Time between batches, such as "2 seconds".'),
    ] = None,
    real_time: Annotated[
        bool,
        typer.Option(
            "--real-time",
            help="Spark's real-time mode, for keyed pipelines: rows are judged as they come, and"
            " each partition takes a core. Turns off Spark's check of what it supports there"
            " (spark.sql.streaming.realTimeMode.allowlistCheck): Python is not on its list.",
        ),
    ] = False,
    breaker: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            min=0.0,
            max=1.0,
            show_default=False,
            help="Stop when more than this share goes to the dead letters; 1: never.",
        ),
    ] = None,
    metrics_port: MetricsPort = None,
    metrics_host: MetricsHost = "127.0.0.1",
    ui: Annotated[
        int | None,
        typer.Option(
            metavar="PORT", min=0, max=65535, help="Serve Spark's web UI on this port; 0: any."
        ),
    ] = None,
    spark_log: Annotated[
        SparkLog | None,
        typer.Option(
            "--spark-log", case_sensitive=False, help="Print Spark's log from this level on."
        ),
    ] = None,
    as_json: ProgressJson = False,
) -> None:
    """Run pipelines in the foreground, in one Spark session.

    Ctrl-C or SIGTERM ends them between two batches. One that fails says why, and the others go on.
    """
    from penstock.pipelines.error import PipelineError
    from penstock.pipelines.run_settings import RunSettings

    if once + (every is not None) + real_time > 1:
        raise UsageFailure("--once, --every and --real-time do not go together")
    if ending is not None and before is not None:
        raise UsageFailure("--to and --before both say where the run ends")
    if after is not None and starting != "earliest":
        raise UsageFailure("--from and --after both say where the run starts")
    if len(names) > 1 and (run_as is not None or outputs):
        raise UsageFailure("--as and --output are for one pipeline at a time")
    cluster = cluster_of(ctx)
    trigger: dict[str, Any] = {"availableNow": True} if once else {}
    if every is not None:
        trigger = {"processingTime": every}
    if real_time:
        trigger = {"realTime": _REAL_TIME_BATCH}
    options = key_values(settings or (), "--set")
    if ui is not None:
        options = {"spark.ui.enabled": "true", "spark.ui.port": str(ui)} | options
    try:
        told = RunSettings(
            bootstrap_servers=cluster.bootstrap_servers,
            directory=directory,
            checkpoints=checkpoints,
            master=master,
            options=options,
            starting=starting,
            ending=ending,
            after=after,
            before=before,
            from_group=from_group,
            breaker_share=breaker,
            metrics_port=metrics_port,
            metrics_host=metrics_host,
            spark_log=None if spark_log is None else spark_log.value,
            py_files=[each for given in py_files or () for each in given.split(",")],
            kafka=cluster.given_settings,
            trigger=trigger,
        )

        def made_for_this_run(found: Runnable) -> Runnable:
            from penstock.pipelines.run.catalogue import beside

            moved = key_values(outputs or (), "--output")
            return _with_state(beside(found, run_as, moved), state)

        _run(names, told, made_for_this_run, as_json=as_json)
    except PipelineError as error:
        raise Failure(missing_extra(error) or str(error)) from error


def _run(
    names: list[str],
    settings: RunSettings,
    changed: Callable[[Runnable], Runnable],
    *,
    as_json: bool,
) -> None:
    from penstock.cli.pipeline_view import watching
    from penstock.pipelines.run.catalogue import find_pipelines
    from penstock.pipelines.run.launch import launch
    from penstock.telemetry.log import configure

    configure(level="warning")
    pipelines = [changed(each) for each in find_pipelines(names)]
    with watching([each.name for each in pipelines], settings, as_json=as_json) as watch:
        ended = launch(pipelines, settings, watch)
    failed = [each for each in ended if each.error is not None]
    if len(ended) == 1 and failed:
        assert failed[0].error is not None
        raise failed[0].error
    if failed:
        listed = ", ".join(each.name for each in failed)
        raise Failure(f"{len(failed)} of {len(ended)} pipelines failed: {listed}")


def _with_state(pipeline: Runnable, place: str | None) -> Runnable:
    from penstock.pipelines.keyed import KeyedPipeline

    if place is None:
        return pipeline
    if not isinstance(pipeline, KeyedPipeline):
        raise UsageFailure(f"--state is for keyed pipelines, and {pipeline.name} is none")
    return pipeline.with_state_in(place)


@app.command("status", cls=PlainCommand)
def status_command(name: Name, directory: Directory = _DIRECTORY, as_json: Json = False) -> None:
    """Show whether a pipeline runs, and how far it is."""
    from penstock.cli.pipeline_view import status_lines
    from penstock.pipelines.run.status import read_status

    said = read_status(directory / name)
    if said is None:
        raise Failure(f"{name} never ran in {directory}; `penstock pipeline list` shows what did")
    if as_json:
        print_json(said)
        return
    for line in status_lines(said):
        print_line(line)
    partitions = said["progress"]["partitions"]
    columns = ("topic", "partition", "position", "end", "lag")
    print_table(columns, [[each[column] for column in columns] for each in partitions])


@app.command("stop", cls=PlainCommand)
def stop_command(
    name: Name,
    directory: Directory = _DIRECTORY,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.0, help="How long to wait.")
    ] = 90.0,
) -> None:
    """Stop a running pipeline between two batches."""
    import os
    import signal
    import time

    from penstock.pipelines.run.lock import lock_holder
    from penstock.pipelines.run.status import ask_stop, read_status

    pid = lock_holder(directory / name)
    if pid is None:
        raise Failure(f"{name} does not run in {directory}")
    if len((read_status(directory / name) or {}).get("together", ())) > 1:
        ask_stop(directory / name)
    else:
        os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + timeout
    while lock_holder(directory / name) == pid:
        if time.monotonic() > deadline:
            raise Failure(f"{name} (process {pid}) still runs after {timeout:.0f} s")
        time.sleep(0.05)
    print_line(f"stopped {name}")
