"""The JVM beside this process: started quietly, and ended when a session needs another one.

PySpark keeps its JVM when a session stops, with the class path and options of the first start. A
session that asks for others must get a new JVM, or it would silently run without them.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

LAUNCH_KEYS = (
    "spark.driver.extraClassPath",
    "spark.driver.extraJavaOptions",
    "spark.driver.memory",
    "spark.jars",
    "spark.master",
    "spark.ui.enabled",
)
# Java says this at each start of Spark, and has no option that keeps it from it.
NOISE = (b"WARNING: Using incubator modules",)
CLOSE_SECONDS = 60.0

_launched: dict[str, str] = {}


def ensure_gateway(
    settings: Mapping[str, str], *, java_options: Callable[[], list[str]], quiet: bool
) -> None:
    """Have PySpark use a JVM that was started with these settings.

    `java_options` are asked for when one is started, and make no other JVM necessary.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    wanted = {key: settings[key] for key in LAUNCH_KEYS if key in settings}
    if SparkContext._gateway is not None and wanted == _launched:
        return
    close_gateway()
    conf = SparkConf(loadDefaults=False)
    conf.setAll(list(settings.items()))
    given = settings.get("spark.driver.extraJavaOptions", "")
    conf.set("spark.driver.extraJavaOptions", " ".join([*java_options(), given]).strip())
    with _stderr(quiet) as stderr:
        gateway = launch_gateway(conf, {"stderr": stderr})  # type: ignore[no-untyped-call]
    SparkContext._ensure_initialized(gateway=gateway)
    _launched.clear()
    _launched.update(wanted)


def close_gateway() -> None:
    """End the JVM, if there is one: nothing of it may be used afterwards."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    if gateway is None:
        return
    gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = None
    process: subprocess.Popen[bytes] | None = gateway.proc
    if process is not None:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()  # the JVM takes this as the end of its parent
    try:
        process.wait(CLOSE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextlib.contextmanager
def _stderr(quiet: bool) -> Any:
    """The stderr of the JVM: ours, behind a filter if it is to be quiet."""
    if not quiet:
        yield None
        return
    ours, theirs = os.pipe()
    reader = os.fdopen(ours, "rb")
    threading.Thread(target=_pass_on, args=(reader,), name="spark-stderr", daemon=True).start()
    try:
        yield theirs
    finally:
        os.close(theirs)


def _pass_on(lines: BinaryIO) -> None:
    with lines:
        for line in lines:
            if not line.startswith(NOISE):
                with contextlib.suppress(OSError):
                    os.write(2, line)
