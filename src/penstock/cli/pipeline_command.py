"""`penstock pipeline`: what is typed, and what is printed. Spark is imported by `run` alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from penstock.cli.argument import Json, cluster_of, quiet_app
from penstock.cli.cluster import key_values
from penstock.cli.extra import missing_extra
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.help import PlainCommand
from penstock.cli.output import print_json, print_line, print_table

if TYPE_CHECKING:
    from penstock.pipelines.run.runner import Runnable
    from penstock.pipelines.run_settings import RunSettings

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
    name: Annotated[
        str,
        typer.Argument(
            metavar="PIPELINE", show_default=False, help="A name, file.py:name, or module:name."
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
    master: Annotated[str, typer.Option(metavar="URL", help="Spark's master.")] = "local[*]",
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
    metrics_port: Annotated[
        int | None,
        typer.Option(
            metavar="PORT", min=0, max=65535, help="Serve metrics for Prometheus on this port."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the progress as JSON, a line a second.")
    ] = False,
) -> None:
    """Run a pipeline in the foreground.

    Ctrl-C or SIGTERM ends it between two batches.
    """
    from penstock.pipelines.run_settings import RunSettings

    if once + (every is not None) + real_time > 1:
        raise UsageFailure("--once, --every and --real-time do not go together")
    if ending is not None and before is not None:
        raise UsageFailure("--to and --before both say where the run ends")
    if after is not None and starting != "earliest":
        raise UsageFailure("--from and --after both say where the run starts")
    cluster = cluster_of(ctx)
    trigger: dict[str, Any] = {"availableNow": True} if once else {}
    if every is not None:
        trigger = {"processingTime": every}
    if real_time:
        trigger = {"realTime": _REAL_TIME_BATCH}
    _run(
        name,
        RunSettings(
            bootstrap_servers=cluster.bootstrap_servers,
            directory=directory,
            checkpoints=checkpoints,
            master=master,
            options=key_values(settings or (), "--set"),
            starting=starting,
            ending=ending,
            after=after,
            before=before,
            from_group=from_group,
            breaker_share=breaker,
            metrics_port=metrics_port,
            kafka=cluster.given_settings,
            trigger=trigger,
        ),
        _Choice(state, run_as, key_values(outputs or (), "--output")),
        as_json=as_json,
    )


def _run(name: str, settings: RunSettings, choice: _Choice, *, as_json: bool) -> None:
    from penstock.cli.pipeline_view import watching
    from penstock.pipelines.error import PipelineError
    from penstock.pipelines.run.catalogue import find_pipeline
    from penstock.pipelines.run.launch import launch
    from penstock.telemetry.log import configure

    configure(level="warning")
    try:
        pipeline = choice.of(find_pipeline(name), settings)
        with watching(pipeline.name, settings, as_json=as_json) as (watch, end):
            end(launch(pipeline, settings, watch))
    except PipelineError as error:
        raise Failure(missing_extra(error) or str(error)) from error


class _Choice(NamedTuple):
    """What is asked for beside the pipeline's name."""

    state: str | None
    run_as: str | None
    outputs: Mapping[str, str]

    def of(self, found: Runnable, settings: RunSettings) -> Runnable:
        from penstock.pipelines.keyed import KeyedPipeline
        from penstock.pipelines.run.catalogue import beside

        if self.state is not None:
            if not isinstance(found, KeyedPipeline):
                raise UsageFailure(f"--state is for keyed pipelines, and {found.name} is none")
            found = found.with_state_in(self.state)
        return beside(found, settings, self.run_as, self.outputs)


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

    pid = lock_holder(directory / name)
    if pid is None:
        raise Failure(f"{name} does not run in {directory}")
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + timeout
    while lock_holder(directory / name) == pid:
        if time.monotonic() > deadline:
            raise Failure(f"{name} (process {pid}) still runs after {timeout:.0f} s")
        time.sleep(0.05)
    print_line(f"stopped {name}")
