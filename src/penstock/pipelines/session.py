"""The Spark session that pipelines run in: the pinned connectors, quiet, the same everywhere.

One session a process. Nothing here knows topics or pipelines, and a user's own options win.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.pipelines import log
from penstock.pipelines.class_archive import archive_options
from penstock.pipelines.error import SessionError, SetupError
from penstock.pipelines.gateway import ensure_gateway
from penstock.pipelines.jar import cache_dir, ensure_jars
from penstock.pipelines.java import require_java
from penstock.pipelines.version import DELTA, INSTALL, KAFKA, SPARK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_MASTER = "local[*]"

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Plans are small and known; measuring them anew at each micro-batch costs more than it gives.
    "spark.sql.adaptive.enabled": "false",
    # Three times as fast as the default on a local disk. What a power failure leaves is untested.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing"
        ".FileSystemBasedCheckpointFileManager"
    ),
}
LOCAL_SETTINGS = {
    # Spark would ask the network for this machine's name, and others could reach its ports.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
LAKE_SETTINGS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
WORKER_PYTHON = "spark.pyspark.python"
CLASS_PATH = "spark.driver.extraClassPath"
JARS = "spark.jars"
_BIND = "SPARK_LOCAL_IP"
LISTS = (JAVA_OPTIONS, CLASS_PATH, JARS)


def session(
    *,
    name: str = "penstock",
    master: str | None = None,
    options: Mapping[str, str] | None = None,
    lake: bool = False,
    quiet: bool = True,
) -> SparkSession:
    """This process's Spark session, started on the first call (`local[*]` unless told otherwise).

    `lake` adds Delta Lake. `options` are Spark's own and win over the settings made here. A later
    call returns the running session, or fails when that was started with something else.
    """
    SparkSession = _import_spark()
    wanted = dict(options or {})
    running = SparkSession.getActiveSession() or SparkSession._instantiatedSession
    if running is not None and running._sc._jsc is not None:
        _require_same(running, master, wanted, lake)
        return running
    java = require_java()
    settings = _settings(master or DEFAULT_MASTER, wanted, lake=lake, quiet=quiet)
    settings["spark.app.name"] = name
    return _start(SparkSession, java, settings, quiet=quiet)


def _import_spark() -> type[SparkSession]:
    try:
        import pyspark
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise SetupError(f"pyspark cannot be imported ({error}); {INSTALL}") from error
    if pyspark.__version__ != SPARK:
        raise SetupError(
            f"pyspark is {pyspark.__version__} and the connectors are for {SPARK}; {INSTALL}"
        )
    return SparkSession


def _settings(
    master: str, options: Mapping[str, str], *, lake: bool, quiet: bool
) -> dict[str, str]:
    local = master.startswith("local")
    jars = [
        str(jar) for each in ((KAFKA, DELTA) if lake else (KAFKA,)) for jar in ensure_jars(each)
    ]
    settings = SETTINGS | (LAKE_SETTINGS if lake else {})
    if local:
        cores = str(local_cores(master))
        settings |= LOCAL_SETTINGS | {"spark.sql.shuffle.partitions": cores}
        # Delta reads a table's log in 50 tasks unless told otherwise, however small it is.
        settings |= {"spark.databricks.delta.snapshotPartitions": cores} if lake else {}
    settings |= options
    settings["spark.master"] = master
    if local:
        # On the class path of the one JVM: Spark would copy `spark.jars` for each of its tasks.
        _join(settings, CLASS_PATH, os.pathsep, jars)
    else:
        _join(settings, JARS, ",", jars)
    if quiet:
        _join(settings, JAVA_OPTIONS, " ", [log.quiet_option()])
    return settings


def _class_archive(java: str, settings: Mapping[str, str]) -> list[str]:
    import pyspark

    paths = [Path(path) for path in settings[CLASS_PATH].split(os.pathsep)]
    paths.append(Path(pyspark.__file__).parent / "jars")
    given = settings.get(JAVA_OPTIONS, "")
    return archive_options(cache_dir() / "classes", java, paths, given, os.environ)


def local_cores(master: str) -> int:
    """How many tasks a local master runs at once: more shuffle partitions only add tasks."""
    inside = re.match(r"local\[(\d+|\*)", master)
    if inside is None:
        return 1
    return (os.cpu_count() or 1) if inside.group(1) == "*" else int(inside.group(1))


def _join(settings: dict[str, str], key: str, separator: str, ours: list[str]) -> None:
    """Ours, then the user's: these settings are lists, and theirs must not push ours out."""
    theirs = [settings[key]] if key in settings else []
    settings[key] = separator.join([*ours, *theirs])


def _temporary() -> list[str]:
    """Spark's temporary files go where this process has its own: Java ignores TMPDIR."""
    where = tempfile.gettempdir()
    return [] if where == "/tmp" else [f'"-Djava.io.tmpdir={where}"']


def _start(
    kind: type[SparkSession], java: str, settings: dict[str, str], *, quiet: bool
) -> SparkSession:
    local = settings["spark.master"].startswith("local")
    # Spark would take the first python3 on PATH, which may lack everything installed here. On the
    # machines of a cluster it may stand elsewhere, and only the user can say where.
    if local:
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    else:
        os.environ.setdefault("PYSPARK_PYTHON", settings.get(WORKER_PYTHON, sys.executable))
    try:
        with _bound_locally(local and settings["spark.ui.enabled"] == "true"):
            ensure_gateway(
                settings,
                java_options=lambda: [
                    *_temporary(),
                    *(_class_archive(java, settings) if local and quiet else []),
                ],
                quiet=quiet,
            )
        started = kind.builder.config(map=dict(settings)).getOrCreate()
    except Exception as error:
        said = str(error).strip().splitlines()
        raise SetupError(
            f"Spark did not start ({said[0] if said else repr(error)}):"
            " look at what it says above and at the options given"
        ) from error
    if started.version != SPARK:
        home = os.environ.get("SPARK_HOME")
        started.stop()
        raise SetupError(f"Spark {started.version} is in SPARK_HOME={home}, not {SPARK}: unset it")
    return started


@contextmanager
def _bound_locally(wanted: bool) -> Iterator[None]:
    """Spark's web UI listens where this variable says; without it on the whole network."""
    if not wanted or _BIND in os.environ:
        yield
        return
    os.environ[_BIND] = LOCAL_SETTINGS["spark.driver.bindAddress"]
    try:
        yield
    finally:
        del os.environ[_BIND]


def _require_same(
    running: SparkSession, master: str | None, options: Mapping[str, str], lake: bool
) -> None:
    asked = dict(options) | ({"spark.master": master} if master else {})
    asked |= LAKE_SETTINGS if lake else {}
    for key, value in asked.items():
        have = running.sparkContext.getConf().get(key) or running.conf.get(key, None)
        if have != value and not (key in LISTS and value in (have or "")):
            raise SessionError(
                f"a Spark session runs already with {key} = {have}, not {value}:"
                " stop it first (.stop()), or ask for the same"
            )
