"""What all tests share: skipping for a missing tool, and not accepting that skip where told so."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tools.apache_kafka import missing_prerequisite

# Spark's connector jars are kept in this checkout, as Apache Kafka's are.
os.environ.setdefault(
    "PENSTOCK_JAR_CACHE", str(Path(__file__).resolve().parent.parent / ".cache" / "jars")
)

# The Java processes of Spark live for seconds here: what they would compile well is not worth it.
# Classes they take from an archive, if there is one: it halves the work of a start. One test of
# the first ones records it, as a user's first run does; others, often killed, would not get there.
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
os.environ.setdefault("SPARK_SUBMIT_OPTS", f"{QUICK_START} -Xshare:auto")

# A shell's background job ignores Ctrl-C, and so would all that tests start to interrupt it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test asserts a time, on a busy machine least of all.
settings.register_profile("penstock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("penstock")

if not os.environ.get("PENSTOCK_CLUSTERS"):
    # Minutes each, with several nodes or Java machines that die: `make clusters`.
    collect_ignore = [
        "chaos/test_chaos_dice.py",
        "chaos/test_chaos_faults.py",
        "cluster/test_disks.py",
        "mixed/test_kafka_broker.py",
        "mixed/test_kafka_controllers.py",
        "mixed/test_migrate.py",
        "mixed/test_kafka_voters_under_ours.py",
        "mixed/test_mixed_voters.py",
        "mixed/test_secured.py",
        "mixed/test_voter_beside_kafka.py",
        "pipelines/test_pipeline_cluster_faults.py",
        "pipelines/test_pipeline_object_store.py",
        "pipelines/test_pipeline_search.py",
        "pipelines/test_pipeline_shared_kill.py",
        "pipelines/test_pipeline_store_start.py",
    ]

_scratch: list[str] = []


def pytest_configure(config: pytest.Config) -> None:
    """What is killed cannot tidy up: its temporary files go with those of the whole run. Folders
    of tests are kept, as ever, for whoever looks for why one failed."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
    _scratch.append(tempfile.mkdtemp(prefix="penstock-tests-"))
    # A database refuses to run as root, and must find its way in as somebody else.
    Path(_scratch[0]).chmod(0o755)
    os.environ["TMPDIR"], tempfile.tempdir = _scratch[0], None


def pytest_unconfigure(config: pytest.Config) -> None:
    while _scratch:
        shutil.rmtree(_scratch.pop(), ignore_errors=True)


pytest_plugins = ["tests.target", "tests.workers"]

SPARK_FIXTURES = {"spark", "stand"}
SPARK_TIMEOUT_S = 600
"""The first test of a process waits for Spark's start and, once, for its connectors. Cut off in the
middle of a call, the session would give every later test the answer to the call before its own."""
REQUIRE_TOOLS = "PENSTOCK_REQUIRE_TOOLS"
MISSING_TOOL = ": install "
"""How every reason ends that names a tool and how to get it."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Other people's clients, in real time: known to hang or give up once in a hundred runs, on
    Apache Kafka as well. A second failure in a row is ours; a rerun is shown in the summary."""
    root = Path(__file__).parent
    for item in items:
        if {root / "conformance", root / "eos"} & set(item.path.parents):
            item.add_marker(pytest.mark.flaky(reruns=1))
        uses_spark = SPARK_FIXTURES & set(getattr(item, "fixturenames", ()))
        if uses_spark and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(SPARK_TIMEOUT_S))


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("java") is not None:
        missing = missing_prerequisite()
        if missing is not None:
            pytest.skip(missing)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where the tools must be there, a test that did not run for want of one has failed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    reports = reporter.stats.get("skipped", []) if reporter is not None else []
    skipped = [one for one in reports if MISSING_TOOL in str(one.longrepr)]
    if skipped and os.environ.get(REQUIRE_TOOLS) and session.exitstatus == 0:
        reporter.write_line(f"{REQUIRE_TOOLS} is set and {len(skipped)} tests were skipped")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
