"""Apache Kafka on this machine: its jars, a broker started from them, and its command line tools.

The conformance tests and the benchmarks measure against it. The jars come through Maven once, into
the checkout's cache folder. Nothing here knows Penstock.
"""

from __future__ import annotations

import fcntl
import functools
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from penstock.testing.port import free_port

VERSION = "4.3.0"
SCALA = "2.13"
# What Kafka's release archive carries to turn its slf4j calls into log4j output.
LOG4J = "2.25.4"
JAVA_MINIMUM = 17

CACHE = Path(__file__).resolve().parent.parent / ".cache" / f"kafka-{VERSION}"
LIBS = CACHE / "libs"

CLUSTER_ID = "cGVuc3RvY2stYmVuY2gtMQ"

# Kafka's own start script: bin/kafka-server-start.sh and bin/kafka-run-class.sh.
BROKER_HEAP = ("-Xmx1G", "-Xms1G")
BROKER_JVM = (
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-Djava.awt.headless=true",
)
# What lives for a moment only: compile little, collect simply, share class data.
BRIEF_JVM = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Xshare:auto",
    "-Djava.awt.headless=true",
)
TOOL_JVM = (*BRIEF_JVM, "-Xmx256m")

TOOL_CLASSES = {
    "kafka-acls": "org.apache.kafka.tools.AclCommand",
    "kafka-broker-api-versions": "org.apache.kafka.tools.BrokerApiVersionsCommand",
    "kafka-cluster": "org.apache.kafka.tools.ClusterTool",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-console-share-consumer": "org.apache.kafka.tools.consumer.ConsoleShareConsumer",
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-consumer-perf-test": "org.apache.kafka.tools.ConsumerPerformance",
    "kafka-delegation-tokens": "org.apache.kafka.tools.DelegationTokenCommand",
    "kafka-delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-dump-log": "org.apache.kafka.tools.DumpLogSegments",
    "kafka-e2e-latency": "org.apache.kafka.tools.EndToEndLatency",
    "kafka-features": "org.apache.kafka.tools.FeatureCommand",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-groups": "org.apache.kafka.tools.GroupsCommand",
    "kafka-leader-election": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka-log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "kafka-metadata-quorum": "org.apache.kafka.tools.MetadataQuorumCommand",
    "kafka-producer-perf-test": "org.apache.kafka.tools.ProducerPerformance",
    "kafka-reassign-partitions": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-share-groups": "org.apache.kafka.tools.consumer.group.ShareGroupCommand",
    "kafka-storage": "kafka.tools.StorageTool",
    "kafka-streams-application-reset": "org.apache.kafka.tools.StreamsResetter",
    "kafka-streams-groups": "org.apache.kafka.tools.streams.StreamsGroupCommand",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-transactions": "org.apache.kafka.tools.TransactionsCommand",
}

# The broker and its tools, what people run on top of it, and a way out for their log lines.
ARTIFACTS = (
    ("org.apache.kafka", f"kafka_{SCALA}", VERSION),
    ("org.apache.kafka", "kafka-tools", VERSION),
    ("org.apache.kafka", "kafka-streams", VERSION),
    ("org.apache.kafka", "connect-file", VERSION),
    ("org.apache.kafka", "connect-mirror", VERSION),
    ("org.apache.logging.log4j", "log4j-slf4j-impl", LOG4J),
)

_POM = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>penstock</groupId>
  <artifactId>apache-kafka</artifactId>
  <version>{version}</version>
  <dependencies>
{dependencies}
  </dependencies>
</project>
"""
_DEPENDENCY = (
    "    <dependency><groupId>{}</groupId><artifactId>{}</artifactId>"
    "<version>{}</version></dependency>"
)

_LOG4J_CONFIG = """status = error
appender.err.type = Console
appender.err.name = err
appender.err.target = SYSTEM_ERR
appender.err.layout.type = PatternLayout
appender.err.layout.pattern = [%d] %p %m (%c)%n
rootLogger.level = {level}
rootLogger.appenderRef.err.ref = err
"""


class PrerequisiteError(RuntimeError):
    """A program that Apache Kafka needs is not on this machine; the message says how to get it."""


class KafkaFailedError(RuntimeError):
    """The Apache Kafka broker did not start; the message ends with what it logged last."""


# --- the jars ---------------------------------------------------------------------------------


@functools.cache
def require_java() -> str:
    """The path of a Java that can run Apache Kafka."""
    java = shutil.which("java")
    if java is None:
        raise PrerequisiteError(f"java not found: install Java {JAVA_MINIMUM} or newer")
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    match = re.search(r'version "(\d+)', answer.stderr)
    if match is None or int(match.group(1)) < JAVA_MINIMUM:
        found = answer.stderr.splitlines()[0] if answer.stderr else "no version"
        raise PrerequisiteError(f"java is too old ({found}): install Java {JAVA_MINIMUM} or newer")
    return java


def require_maven() -> str:
    maven = shutil.which("mvn")
    if maven is None:
        raise PrerequisiteError("mvn not found: install Apache Maven 3.6 or newer")
    return maven


def missing_prerequisite() -> str | None:
    """Why Apache Kafka cannot be used on this machine, or None when it can."""
    try:
        require_java()
        if not _complete():
            require_maven()
    except PrerequisiteError as error:
        return str(error)
    return None


def ensure_jars() -> Path:
    """The folder of Apache Kafka's jars, downloaded by whoever comes first."""
    if _complete():
        return LIBS
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _complete():
            _download()
    return LIBS


def _complete() -> bool:
    """Whether all that is wanted was downloaded; the marker says for which list that is true."""
    marker = CACHE / "complete"
    return marker.exists() and marker.read_text() == _pom()


def _pom() -> str:
    dependencies = "\n".join(_DEPENDENCY.format(*artifact) for artifact in ARTIFACTS)
    return _POM.format(version=VERSION, dependencies=dependencies)


def _download() -> None:
    maven = require_maven()
    print(f"Getting Apache Kafka {VERSION} through Maven (once) ...", file=sys.stderr, flush=True)
    pom = CACHE / "pom.xml"
    pom.write_text(_pom())
    # An archive of classes is only valid for the jars it was made with.
    for outdated in (LIBS, CACHE / "classes"):
        shutil.rmtree(outdated, ignore_errors=True)
    goal = ["dependency:copy-dependencies", f"-DoutputDirectory={LIBS}"]
    command = [maven, "-q", "-B", "-f", str(pom), *goal]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        said = (answer.stdout + answer.stderr).strip().splitlines()
        raise PrerequisiteError(f"mvn could not get Apache Kafka: {said[0] if said else 'silent'}")
    (CACHE / "complete").write_text(_pom())
    print(f"Apache Kafka {VERSION} is in {LIBS}", file=sys.stderr, flush=True)


@functools.cache
def _classpath() -> str:
    # Named one by one, in order: a shared class archive is only valid for the same list.
    return os.pathsep.join(str(jar) for jar in sorted(ensure_jars().glob("*.jar")))


def _java_command(flags: Sequence[str], class_name: str, log_level: str = "OFF") -> list[str]:
    ensure_jars()
    config = CACHE / f"log4j2-{log_level.lower()}.properties"
    if not config.exists():
        partial = config.with_suffix(f".{os.getpid()}")
        partial.write_text(_LOG4J_CONFIG.format(level=log_level))
        partial.replace(config)
    # Java looks at no TMPDIR by itself, and one that is killed leaves its libraries there.
    where = f"-Djava.io.tmpdir={tempfile.gettempdir()}"
    return [require_java(), *flags, where, f"-Dlog4j2.configurationFile={config}", class_name]


def _environment() -> dict[str, str]:
    # Here and not on the command line, where ninety jars would drown every process listing.
    return os.environ | {"CLASSPATH": _classpath()}


# --- the tools --------------------------------------------------------------------------------


def run_tool(
    name: str,
    args: Sequence[str],
    *,
    stdin: str | None = None,
    timeout: float = 90.0,
    jvm: Sequence[str] = (),
    log_level: str = "OFF",
) -> subprocess.CompletedProcess[str]:
    """Run one of Kafka's command line tools, by its script name or by its class."""
    ensure_jars()
    class_name = TOOL_CLASSES.get(name, name)
    archive = CACHE / "classes" / f"{Path(class_name).name}.jsa"
    written = archive.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    flags = [*TOOL_JVM, *_class_archive_flags(archive, written), *jvm]
    answer = subprocess.run(
        [*_java_command(flags, class_name, log_level), *args],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env=_environment(),
    )
    if written.exists():
        written.replace(archive)
    return answer


def start_source(source: Path) -> subprocess.Popen[str]:
    """Run one Java source file beside Kafka's jars, with a pipe into it and one out of it."""
    return subprocess.Popen(
        _java_command(TOOL_JVM, str(source)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=_environment(),
    )


def start_program(program: str, args: Sequence[str], output: Path) -> subprocess.Popen[bytes]:
    """Run a class of Kafka's jars, or a source file beside them; what it says goes to a file."""
    with open(output, "ab") as log:
        return subprocess.Popen(
            [*_java_command(TOOL_JVM, program, "WARN"), *args],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=_environment(),
        )


def _class_archive_flags(archive: Path, written: Path) -> list[str]:
    """A tool's first run dumps the classes it loaded; later runs start from them, twice as fast."""
    if archive.exists():
        return [f"-XX:SharedArchiveFile={archive}", "-Xlog:disable"]
    archive.parent.mkdir(parents=True, exist_ok=True)
    return [f"-XX:ArchiveClassesAtExit={written}", "-Xlog:disable"]


# --- the broker -------------------------------------------------------------------------------


class ApacheKafka:
    """One KRaft node, broker and controller in one process, on loopback ports."""

    format_flags: Sequence[str] = ("--standalone",)

    def __init__(
        self,
        data_dir: Path,
        settings: Mapping[str, str] | None = None,
        *,
        heap: Sequence[str] = BROKER_HEAP,
        jvm: Sequence[str] = BROKER_JVM,
        port: int | None = None,
        start_timeout: float = 90.0,
    ) -> None:
        self.data_dir = data_dir
        self.port = port or free_port()
        self.controller_port = free_port()
        self.settings = dict(settings or {})
        self._jvm = [*heap, *jvm]
        self._start_timeout = start_timeout
        self._process: subprocess.Popen[bytes] | None = None
        self.log_file = data_dir.with_name(data_dir.name + ".out")

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._running().pid

    @property
    def rss_bytes(self) -> int:
        command = ["ps", "-o", "rss=", "-p", str(self.pid)]
        return int(subprocess.run(command, capture_output=True, check=True).stdout) * 1024

    def __enter__(self) -> ApacheKafka:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Format the storage if it is new, start the process, wait until it answers."""
        self.launch()
        self.wait_ready()

    def launch(self) -> None:
        """As `start`, without the wait."""
        properties = self.write_properties()
        if not (self.data_dir / "meta.properties").exists():
            self.format(properties)
        command = _java_command(self._jvm, "kafka.Kafka", "WARN")
        with open(self.log_file, "ab") as log:
            self._process = subprocess.Popen(
                [*command, str(properties)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=_environment(),
            )

    def wait_ready(self) -> None:
        try:
            self._wait_ready()
        except BaseException:
            self.kill()
            raise

    def format(self, properties: Path | None = None) -> None:
        args = ["format", *self.format_flags, "-t", CLUSTER_ID, "-c"]
        answer = run_tool("kafka-storage", [*args, str(properties or self.write_properties())])
        if answer.returncode != 0:
            raise KafkaFailedError(f"storage could not be formatted: {answer.stderr.strip()}")

    def stop(self, timeout: float = 60.0) -> None:
        """Shut down cleanly; a broker that takes too long is killed."""
        if self._process is None:
            return
        self._signal(signal.SIGTERM)
        try:
            self._process.wait(timeout)
            self._process = None
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        if self._process is None:
            return
        self._signal(signal.SIGKILL)
        self._process.wait()
        self._process = None

    def restart(self) -> None:
        self.stop()
        self.start()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise KafkaFailedError("the broker is not running")
        return self._process

    def _signal(self, number: int) -> None:
        try:
            # The process leads its own group, so its pid names the group.
            os.killpg(self._running().pid, number)
        except ProcessLookupError:
            pass

    def write_properties(self) -> Path:
        self.data_dir.mkdir(parents=True, exist_ok=True)
        broker, controller = self.bootstrap_servers, f"127.0.0.1:{self.controller_port}"
        settings = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.bootstrap.servers": controller,
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://{broker},CONTROLLER://{controller}",
            "advertised.listeners": f"PLAINTEXT://{broker},CONTROLLER://{controller}",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": str(self.data_dir),
            "offsets.topic.replication.factor": "1",
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
        } | self.settings
        path = self.data_dir.with_name(self.data_dir.name + ".properties")
        path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        return path

    def _wait_ready(self) -> None:
        deadline = time.monotonic() + self._start_timeout
        while not answers_metadata(self.port):
            code = self._running().poll()
            if code is not None or time.monotonic() > deadline:
                why = "did not answer in time" if code is None else f"ended with code {code}"
                tail = self.log_file.read_text(errors="replace")[-2000:]
                raise KafkaFailedError(f"Apache Kafka {why}\n{tail}")
            time.sleep(0.02)


def answers_metadata(port: int) -> bool:
    """Whether a broker on this port answers a Metadata request that lists at least itself."""
    request = struct.pack(">hhih", 3, 0, 1, -1) + struct.pack(">i", 0)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(struct.pack(">i", len(request)) + request)
            answer = connection.recv(12, socket.MSG_WAITALL)
    except OSError:
        return False
    return len(answer) == 12 and struct.unpack(">iii", answer)[2] > 0
