"""What Spark's JVM says on stderr: errors, and not the warnings that every start brings."""

from __future__ import annotations

import os

from penstock.pipelines.jar import cache_dir

_ECHOES = (
    "Aborting task",
    "Aborting commit",
    "Aborted commit",
    "Data source write support",
    "Exception in task",
    "Store broadcast",
    r"Task \d+ in stage [0-9.]+ failed",
)
_CONFIG = """status = error
appender.err.type = Console
appender.err.name = err
appender.err.target = SYSTEM_ERR
appender.err.layout.type = PatternLayout
appender.err.layout.pattern = %d{{HH:mm:ss}} %p %c{{1}}: %m%n%ex{{short}}
# Said again, with all that matters, by the exception that the caller gets; or said because a query
# was stopped while a task ran, which is no error.
appender.err.filter.echo.type = RegexFilter
appender.err.filter.echo.regex = (?s)({echoes}).*
appender.err.filter.echo.onMatch = DENY
appender.err.filter.echo.onMismatch = NEUTRAL
rootLogger.level = error
rootLogger.appenderRef.err.ref = err
# Spark takes a shell's level from this logger, and says so when it differs from the root's.
logger.shell.name = org.apache.spark.api.python.PythonGatewayServer
logger.shell.level = error
"""


def quiet_option() -> str:
    """The JVM option that makes Spark's log say errors only."""
    text = _CONFIG.format(echoes="|".join(_ECHOES).replace("\\", "\\\\"))
    config = cache_dir() / "log4j2-quiet.properties"
    if not config.exists() or config.read_text() != text:
        config.parent.mkdir(parents=True, exist_ok=True)
        partial = config.with_suffix(f".{os.getpid()}")
        partial.write_text(text)
        partial.replace(config)
    return f"-Dlog4j2.configurationFile={config.as_uri()}"
